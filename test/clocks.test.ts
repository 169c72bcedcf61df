/** Time comes from a clock that the caller passes, so that no test waits for it. Whoever reads the time alone is listed here. */
import { globSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

/** Sources that may read the time, by the beginning of their path, with the reason. */
const MAY: Readonly<Record<string, string>> = {
  'packages/base/src/shared/clock.ts': 'the clock itself',
  'packages/observe/src/log.ts': 'a line of the log has the time of the machine',
  'packages/database/src/embedded/': 'it waits for processes of another program',
  'packages/cli/src/': 'a command is a process of its own, and ends soon',
  'packages/console/src/': 'it runs in the browser of a reader',
  'packages/client/src/': 'it is a library of other systems, whose messages have the time at which they are sent',
}

/** Reads of the time that are still to be replaced, at most, by package. A number only goes down; no package is added. */
const LEFT: Readonly<Record<string, number>> = {
  admin: 33,
  audit: 1,
  delivery: 16,
  engine: 16,
  keys: 1,
  participants: 2,
  records: 1,
  server: 5,
  source: 1,
}

const READ = String.raw`(?:\b(?:Date|performance)\.now\(\)|\bnew Date\(\))`
/** A default: the caller may pass a clock or a time. */
const DEFAULT = new RegExp(String.raw`^(?!\s*(?:const|let)\b).*= (?:\(\)(?:: \w+)? => )?${READ}|\?\.\(\) \?\? ${READ}`)

it('the time is read from a clock that the caller passes', () => {
  const found = new Map<string, string[]>()
  for (const source of globSync('packages/*/src/**/*.{ts,tsx}')) {
    if (/\.test\.tsx?$/.test(source) || Object.keys(MAY).some((place) => source.startsWith(place))) continue
    const lines = readFileSync(source, 'utf8').split('\n')
    const reads = lines.flatMap((line, at) =>
      DEFAULT.test(line) ? [] : (line.match(new RegExp(READ, 'g')) ?? []).map(() => `${source}:${at + 1}`),
    )
    const name = source.split('/')[1] ?? ''
    found.set(name, [...(found.get(name) ?? []), ...reads])
  }
  const more = [...found].filter(([name, reads]) => reads.length > (LEFT[name] ?? 0))
  expect(Object.fromEntries(more)).toEqual({})
})
