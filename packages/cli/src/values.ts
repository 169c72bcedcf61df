/** Values on the command line. */
import { InvalidArgumentError } from 'commander'

/** A reader of whole numbers of at least `min`, with `_` allowed between digits as in 1_000_000. */
export function wholeNumber(min: number, max: number = Number.MAX_SAFE_INTEGER): (text: string) => number {
  return (text) => {
    const value = Number(text.replaceAll('_', ''))
    if (/^\d[\d_]*$/.test(text) && value >= min && value <= max) return value
    throw new InvalidArgumentError(`It must be a whole number from ${min} to ${max}.`)
  }
}
