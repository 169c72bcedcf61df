/** A stream of rows that shows its next row before it is taken. */
export interface Cursor<Row> {
  /** Returns the next row without taking it; undefined when there are no more. */
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
