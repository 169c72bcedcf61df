/** A file as witness: lines are appended and synced. Best on a disk that the database's administrators cannot write to. */
import { open } from 'node:fs/promises'
import type { WitnessTarget } from './witness-target.ts'

export function fileWitness(path: string): WitnessTarget {
  return {
    async write(lines) {
      // Opened anew: a file that was rotated is left alone.
      const file = await open(path, 'a', 0o600)
      try {
        // One write: lines of several processes do not mix.
        await file.appendFile(`${lines.join('\n')}\n`)
        await file.sync()
      } finally {
        await file.close()
      }
    },
    close: () => Promise.resolve(),
  }
}
