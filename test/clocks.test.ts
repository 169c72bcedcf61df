/** Time comes from a clock that the caller passes, so that no test waits for it. Whoever reads the time alone is listed here. */
import { globSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

/** Sources that may read the time, by the beginning of their path, with the reason. */
const MAY: Readonly<Record<string, string>> = {
  'packages/base/src/shared/clock.ts': 'the clock itself',
  'packages/observe/src/log.ts': 'a line of the log has the time of the machine',
  'packages/server/src/http/admin/call-log.ts': 'it measures how long a call took, for its line of the log',
  'packages/server/src/http/connections.ts': 'a server that closes gives its open connections real seconds',
  'packages/database/src/embedded/': 'it waits for processes of another program',
  'packages/cli/src/': 'a command is a process of its own, and ends soon',
  'packages/console/src/': 'it runs in the browser of a reader',
  'packages/client/src/': 'it is a library of other systems, whose messages have the time at which they are sent',
}

const READ = /(?:\b(?:Date|performance)\.now\(\)|\bnew Date\(\))/
/** A default: the caller may pass a clock or a time. */
const DEFAULT = new RegExp(
  String.raw`^(?!\s*(?:const|let)\b).*= (?:\(\)(?:: \w+)? => )?${READ.source}|\?\.\(\) \?\? ${READ.source}|[{,] now(?:: \w+)? = \(\) => ${READ.source}`,
)

it('the time is read from a clock that the caller passes', () => {
  const found: string[] = []
  for (const source of globSync('packages/*/src/**/*.{ts,tsx}')) {
    if (/\.test\.tsx?$/.test(source) || Object.keys(MAY).some((place) => source.startsWith(place))) continue
    for (const [at, line] of readFileSync(source, 'utf8').split('\n').entries()) {
      if (!DEFAULT.test(line) && READ.test(line)) found.push(`${source}:${at + 1}`)
    }
  }
  expect(found).toEqual([])
})
