/** A stream of rows, of which the next one can be looked at. */
export interface Cursor<Row> {
  /** Undefined: there are no more. */
  peek(): Promise<Row | undefined>
  take(): Promise<Row | undefined>
}

export function cursorOf<Row>(rows: AsyncIterator<Row>): Cursor<Row> {
  let next: Row | undefined
  let known = false
  const peek = async (): Promise<Row | undefined> => {
    if (known) return next
    const result = await rows.next()
    next = result.done === true ? undefined : result.value
    known = true
    return next
  }
  return {
    peek,
    async take() {
      const row = await peek()
      if (row !== undefined) known = false
      return row
    },
  }
}
