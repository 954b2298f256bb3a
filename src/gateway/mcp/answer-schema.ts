/**
 * JSON schemas held against the types of what they describe: a member that is in one and not in the
 * other does not compile, unless it is named as one that hosts need not be told of; nor does a
 * member of another type.
 */

type KeysOf<Union> = Union extends unknown ? keyof Union : never
type MemberOf<Union, Key> = Union extends unknown ? (Key extends keyof Union ? Union[Key] : never) : never

/** What every member of a union has. */
type Always<Union> = { [Key in keyof Union]-?: object extends Pick<Union, Key> ? never : Key }[keyof Union]

/** A schema says the type of a value, or nothing of it. Where it says more, it says no less. */
type Typed<Type, More = object> = { type?: Type; anyOf?: never } & More
type ShapeOf<Value> = [Value] extends [string]
  ? Typed<'string', { enum?: readonly Value[] }>
  : [Value] extends [number]
    ? Typed<'integer' | 'number', { minimum?: number; maximum?: number }> | Nullable<'integer'>
    : [Value] extends [boolean]
      ? Typed<'boolean'>
      : [Value] extends [readonly (infer Item)[]]
        ? Typed<'array', { items?: { description?: string } & ShapeOf<Item> }>
        : [Value] extends [object]
          ? Typed<'object', { properties?: object; required?: readonly string[] }>
          : [Value] extends [string | null]
            ? Nullable<'string'>
            : [Value] extends [number | null]
              ? Nullable<'integer'>
              : { type?: never; anyOf?: never }
type Nullable<Type> = { anyOf: readonly [{ type: Type }, { type: 'null' }] }

type Exact<Shapes, Union> = Shapes & { [Key in Exclude<keyof Shapes, KeysOf<Union>>]: never }
type Properties<Union, Untold extends PropertyKey> = {
  [Key in Exclude<KeysOf<Union>, Untold>]: { description?: string } & ShapeOf<Exclude<MemberOf<Union, Key>, undefined>>
}

export const nullable = <Type extends string>(type: Type) => ({ anyOf: [{ type }, { type: 'null' }] as const })

const error = {
  type: 'object',
  properties: {
    code: { type: 'string' },
    message: { type: 'string' },
    context: { type: 'object' },
    fate: { type: 'string', enum: ['correct', 'retry', 'give_up'] },
  },
  required: ['code', 'message', 'context', 'fate'],
}

/** The members of an object, but for those that hosts need not be told of. */
export const shapeOf =
  <Union, Untold extends KeysOf<Union> = never>() =>
  <const Shapes extends Properties<Union, Untold>>(properties: Exact<Shapes, Union>, required: Always<Union>[]) => ({
    type: 'object' as const,
    properties,
    required,
  })

/**
 * Some clients hold a refusal against the schema too, although it is marked as an error: so every
 * answer is either whole, or an error.
 */
export const orError =
  <Union, Untold extends KeysOf<Union> = never>() =>
  <const Shapes extends Properties<Union, Untold>>(properties: Exact<Shapes, Union>, required: Always<Union>[]) => ({
    type: 'object' as const,
    properties: { ...properties, error },
    anyOf: [{ required }, { required: ['error'] }],
  })
