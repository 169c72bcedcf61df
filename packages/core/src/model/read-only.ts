/** A JSON type with all members read-only. */
export type ReadOnly<Value> = Value extends readonly (infer Element)[]
  ? readonly ReadOnly<Element>[]
  : Value extends object
    ? { readonly [Name in keyof Value]: ReadOnly<Value[Name]> }
    : Value
