/** JSON that nobody writes into. */
export type ReadOnly<Value> = Value extends readonly (infer Element)[]
  ? readonly ReadOnly<Element>[]
  : Value extends object
    ? { readonly [Name in keyof Value]: ReadOnly<Value[Name]> }
    : Value
