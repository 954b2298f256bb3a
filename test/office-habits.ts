/**
 * Six habits of people who work with the office server: what they ask for in several wordings, and
 * the program that an agent would write for it, each time with other names, comments and layout.
 */
export type Values = Record<string, string | number>

export type OfficeHabit = {
  name: string
  /** Each with `{slots}` for the values. */
  wordings: string[]
  values: Values[]
  /** In several wordings; `{slots}` likewise. */
  programs: string[]
  tools: string[]
  isReadOnly: boolean
  /** What the office answers to it. */
  result(values: Values): unknown
}

const numberOf = (name: string | number = '') =>
  [...String(name)].reduce((sum, letter) => sum + letter.charCodeAt(0), 0)

export const officeHabits: OfficeHabit[] = [
  {
    name: 'stock',
    wordings: [
      'how many pieces of {item} are in stock in {city}',
      'how many pieces of {item} do we have in stock in {city}?',
      'tell me how many pieces of {item} are in stock in {city}',
      'pieces of {item} in stock in {city}',
      'how many {item} pieces are there in stock in {city}',
      'please look up how many pieces of {item} are still in stock in {city}',
      'how many pieces of {item} are left in stock in {city}',
    ],
    values: [
      { item: 'loom', city: 'Lyon' },
      { item: 'shuttle', city: 'Paris' },
      { item: 'bobbin', city: 'Nantes' },
      { item: 'reed', city: 'Lille' },
      { item: 'heddle', city: 'Brest' },
      { item: 'treadle', city: 'Dijon' },
      { item: 'batten', city: 'Nice' },
    ],
    programs: [
      `const answer = await mcp.office.stock({ item: '{item}', city: '{city}' })\nreturn answer.pieces`,
      `// what is left\nconst s = await mcp.office.stock({item:"{item}",city:"{city}"});\nreturn s.pieces;`,
      `const found = await mcp.office.stock({\n  item: '{item}',\n  city: '{city}',\n})\nreturn found.pieces`,
    ],
    tools: ['office:stock'],
    isReadOnly: true,
    result: ({ item, city }) => numberOf(item) * numberOf(city),
  },
  {
    name: 'manager',
    wordings: [
      'who is the manager of customer {name}',
      'who is the manager of our customer {name}?',
      'find out who manages customer {name}',
      'manager of customer {name}',
      'tell me the manager of customer {name}',
      'I need to know who the manager of customer {name} is',
      'who is manager of the customer {name}',
    ],
    values: ['Ada', 'Grace', 'Edsger', 'Barbara', 'Donald', 'Frances', 'Niklaus'].map((name) => ({ name })),
    programs: [
      `const customer = await mcp.office.find_customer({ name: '{name}' })\nreturn customer.manager`,
      `const c = await mcp.office.find_customer({ name: "{name}" });\nreturn c.manager; // by name`,
      `/* first the customer */\nconst who = await mcp.office.find_customer({ name: '{name}' })\n\nreturn who.manager`,
    ],
    tools: ['office:find_customer'],
    isReadOnly: true,
    result: ({ name }) => (numberOf(name) % 2 === 0 ? 'Hopper' : 'Lamarr'),
  },
  {
    name: 'refund',
    wordings: [
      'refund order {order}, it came late',
      'refund order {order} because it came late',
      'order {order} came late: refund it',
      'refund the late order {order}',
      'please refund order {order} which came late',
      'late again: refund order {order} please',
      'the customer says order {order} came late, so refund it',
    ],
    values: ['ORD-17', 'ORD-204', 'ORD-31', 'ORD-998', 'ORD-45', 'ORD-612', 'ORD-77'].map((order) => ({ order })),
    programs: [
      `const order = await mcp.office.get_order({ id: '{order}' })\nreturn await mcp.office.refund({ order: order.id, amount: order.total })`,
      `const o = await mcp.office.get_order({ id: "{order}" });\n// all of it\nreturn await mcp.office.refund({ order: o.id, amount: o.total });`,
      `const late = await mcp.office.get_order({\n  id: '{order}',\n})\nreturn await mcp.office.refund({\n  order: late.id,\n  amount: late.total,\n})`,
    ],
    tools: ['office:get_order', 'office:refund'],
    isReadOnly: false,
    result: ({ order }) => ({ did: 'refund', order, amount: numberOf(order) / 4 }),
  },
  {
    name: 'remind',
    wordings: [
      'remind {name} of invoice {invoice}',
      'send {name} a reminder of invoice {invoice}',
      'write to {name} to remind them of invoice {invoice}',
      'remind {name} about invoice {invoice} by mail',
      'remind {name} again of the invoice {invoice}',
      'please remind {name} of unpaid invoice {invoice}',
      'remind {name} of open invoice {invoice}',
    ],
    values: [
      { name: 'Ada', invoice: 'INV-7' },
      { name: 'Alan', invoice: 'INV-81' },
      { name: 'Radia', invoice: 'INV-230' },
      { name: 'Ken', invoice: 'INV-64' },
      { name: 'Margaret', invoice: 'INV-5' },
      { name: 'Dennis', invoice: 'INV-333' },
      { name: 'Linus', invoice: 'INV-18' },
    ],
    programs: [
      `const { mail } = await mcp.office.find_customer({ name: '{name}' })\nreturn await mcp.office.send_mail({ to: mail, subject: '{invoice}' })`,
      `const { mail } = await mcp.office.find_customer({ name: "{name}" });\nreturn await mcp.office.send_mail({ to: mail, subject: "{invoice}" }); // the number says it all`,
      `const { mail } = await mcp.office.find_customer({\n  name: '{name}' })\n\nreturn await mcp.office.send_mail({\n  to: mail,\n  subject: '{invoice}'\n})`,
    ],
    tools: ['office:find_customer', 'office:send_mail'],
    isReadOnly: false,
    result: ({ name, invoice }) => ({
      did: 'send_mail',
      to: `${String(name).toLowerCase()}@example.org`,
      subject: invoice,
    }),
  },
  {
    name: 'hours',
    wordings: [
      'sum up the hours of open tickets of project {project}',
      'how many hours are the open tickets of project {project}?',
      'add up the hours of the open tickets in project {project}',
      'hours of open tickets of project {project}',
      'what is the sum of hours of open tickets of project {project}',
      'give me the hours that are left in the open tickets of project {project}',
      'sum of the hours of all open tickets of project {project}',
    ],
    values: ['Jacquard', 'Velvet', 'Damask', 'Brocade', 'Twill', 'Satin', 'Muslin'].map((project) => ({ project })),
    programs: [
      `const { tickets } = await mcp.office.list_tickets({ project: '{project}' })\nconst open = tickets.filter((ticket) => ticket.open)\nreturn open.reduce((sum, ticket) => sum + ticket.hours, 0)`,
      `const { tickets } = await mcp.office.list_tickets({ project: "{project}" });\nconst todo = tickets.filter((t) => t.open); // the others are done\nreturn todo.reduce((total, t) => total + t.hours, 0);`,
      `const { tickets } = await mcp.office.list_tickets({ project: '{project}' })\nconst rest = tickets.filter(one => one.open)\nreturn rest.reduce((all, one) => all + one.hours, 0)`,
    ],
    tools: ['office:list_tickets'],
    isReadOnly: true,
    result: ({ project }) =>
      [1, 2, 3, 4].reduce((sum, at) => sum + ((numberOf(project) + at) % 3 === 0 ? 0 : at * 2), 0),
  },
  {
    name: 'room',
    wordings: [
      'book room {room} at {at}',
      'book the room {room} for {at}',
      'reserve: book room {room} at {at}',
      'please book room {room} at {at}',
      'book a meeting in room {room} at {at}',
      'could you book room {room} at {at} for us',
      'book room {room} for us at {at}',
    ],
    values: [
      { room: 'Blue', at: '14:30' },
      { room: 'Red', at: '09:15' },
      { room: 'Amber', at: '16:00' },
      { room: 'Green', at: '11:45' },
      { room: 'Violet', at: '08:30' },
      { room: 'Ivory', at: '17:20' },
      { room: 'Pearl', at: '12:10' },
    ],
    programs: [
      `return await mcp.office.book_room({ room: '{room}', at: '{at}' })`,
      `// a room\nreturn await mcp.office.book_room({ room: "{room}", at: "{at}" });`,
      `return await mcp.office.book_room({\n  room: '{room}',\n  at: '{at}',\n})`,
    ],
    tools: ['office:book_room'],
    isReadOnly: false,
    result: ({ room, at }) => ({ did: 'book_room', room, at }),
  },
]

export function filled(text: string, values: Values): string {
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => (name in values ? String(values[name]) : whole))
}
