/** Blank lines of a stream, passed over in one go: a file may hold millions of them. */

const [TAB, NEWLINE, RETURN, SPACE] = [0x09, 0x0a, 0x0d, 0x20]

const isSpace = (byte: number | undefined): boolean => byte === SPACE || byte === TAB || byte === RETURN

/** Where the first line begins that is not blank, or not whole, and how many lines stand before it. */
export function afterBlankLines(chunk: Buffer, start: number): { readonly start: number; lines: number } {
  let [from, lines] = [start, 0]
  for (let at = start; at < chunk.length; at += 1) {
    const byte = chunk[at]
    if (byte === NEWLINE) {
      from = at + 1
      lines += 1
    } else if (!isSpace(byte)) break
  }
  return { start: from, lines }
}

/** Whether a line holds nothing but spaces, tabs and carriage returns. */
export function isBlank(line: Buffer): boolean {
  return line.every(isSpace)
}
