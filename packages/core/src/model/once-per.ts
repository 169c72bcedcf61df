/**
 * Remembers one value for each object, such as the prepared statement of a record table. The value is made at the first call and
 * lives as long as the object.
 */
export function oncePerObject<Owner extends object, Value>(make: (owner: Owner) => Value): (owner: Owner) => Value {
  const made = new WeakMap<Owner, Value>()
  return (owner) => {
    const known = made.get(owner)
    if (known !== undefined) return known
    const value = make(owner)
    made.set(owner, value)
    return value
  }
}
