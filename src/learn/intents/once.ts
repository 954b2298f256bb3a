/** What is made of an object that never changes, kept as long as that is there. */
export function once<Of extends object, Value>(make: (of: Of) => Value): (of: Of) => Value {
  const made = new WeakMap<Of, { value: Value }>()
  return (of) => {
    const found = made.get(of) ?? { value: make(of) }
    made.set(of, found)
    return found.value
  }
}
