/** Items of an uploaded file, with the lines on which they stand. */
import { type JsonValue, RequestFault } from '@rollcall/protocol'

export interface LinedItem {
  /** On which it begins; the first is 1. */
  readonly line: number
  readonly item: JsonValue
}

/** @param rest of the place, and the rule: `.timestamp: must be ...` or `: must be ...` */
export const lineProblem = (line: number, rest: string): RequestFault =>
  new RequestFault('err.request.bad', `fileName[line ${line}]${rest}`)
