/** A number with a noun in singular or plural: `1 process`, `2 processes`. */
export const countWithNoun = (count: number, one: string, many = `${one}s`): string =>
  `${count} ${count === 1 ? one : many}`
