/** A stream in slices that are short enough to be read one after the other without a stop. */
import { setImmediate as turn } from 'node:timers/promises'

/** Bytes of one slice: the shortest rows that fit into it are read in some milliseconds. */
const SLICE = 4_096

/** Between two slices others have their turn: what comes over a quick line comes in long pieces, without a pause. */
export async function* inSlices(pieces: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void, void> {
  for await (const piece of pieces) {
    for (let from = 0; from < piece.length; from += SLICE) {
      yield piece.subarray(from, from + SLICE)
      await turn()
    }
  }
}
