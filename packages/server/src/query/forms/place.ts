/** Where in a query a reader stands, as the text that a `QueryProblem` names. */
import { type PathStep, pathText } from '@rollcall/protocol'

/** `query` and `sex` make `query.sex`; `query` and 0 make `query[0]`. */
export function at(path: string, step: PathStep): string {
  const text = pathText([step])
  return path === '' || text.startsWith('[') ? `${path}${text}` : `${path}.${text}`
}
