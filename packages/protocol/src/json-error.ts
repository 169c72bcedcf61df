/** Errors of the strict JSON reader. */

/** A JSON text is refused. The message names the path and the rule, never a value. */
export class JsonError extends Error {
  /** The place in the document, such as `message.search_request[3].locale`; empty for the whole document. */
  readonly path: string

  constructor(path: string, rule: string) {
    super(path === '' ? rule : `${path}: ${rule}`)
    this.name = 'JsonError'
    this.path = path
  }
}

/** A JSON text is refused because the array at a path of `JsonBulk` has more than `maxItems` elements. */
export class TooManyItems extends JsonError {}
