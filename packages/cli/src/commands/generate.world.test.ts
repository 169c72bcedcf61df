import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { KIND_GENERATORS } from '@rollcall/synthetic'
import { expect, test } from 'vitest'
import { dataDirectory, rollcall } from '../../test/command.ts'

const MAIN = fileURLToPath(new URL('../main.ts', import.meta.url))

test('the same seed gives the same lines, a longer run begins with a shorter one', async () => {
  const [short, long, other] = await Promise.all([
    rollcall(['generate', 'social', '--count', '30', '--seed', 'x']),
    rollcall(['generate', 'social', '--count', '1_00', '--seed', 'x']),
    rollcall(['generate', 'social', '--count', '30', '--seed', 'y']),
  ])
  expect([short.code, long.code, other.code]).toEqual([0, 0, 0])
  expect(short.stdout.match(/\n/g)).toHaveLength(30)
  expect(long.stdout.match(/\n/g)).toHaveLength(100)
  expect(long.stdout.startsWith(short.stdout)).toBe(true)
  expect(other.stdout).not.toBe(short.stdout)
  expect(short.stderr).toBe('')
})

const kinds = KIND_GENERATORS.map(({ kind }) => kind)

test('there are records of every kind that has a generator', async () => {
  const all = await Promise.all(kinds.map((kind) => rollcall(['generate', kind, '--count', '1'])))
  for (const { code, stdout } of all) {
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toHaveProperty('@type')
  }
})

test('into a file, with a summary for machines', async () => {
  const { path, remove } = await dataDirectory()
  try {
    const out = join(path, 'people.ndjson')
    const { code, stdout } = await rollcall(['generate', 'ess', '--count', '2', '--seed', '7', '--out', out, '--json'])
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toEqual({ kind: 'ess', count: 2, seed: '7', out })
    expect((await readFile(out, 'utf8')).trimEnd().split('\n')).toHaveLength(2)
  } finally {
    await remove()
  }
})

test('a file that cannot be written: exit code 1', async () => {
  const { code, stderr } = await rollcall(['generate', 'ess', '--out', '/nowhere/at/all'])
  expect(code).toBe(1)
  expect(stderr).toBe('rollcall: the file /nowhere/at/all cannot be written: no such file or directory\n')
})

test('a reader who has had enough ends it quietly', async () => {
  const line = `set -o pipefail; "$0" "$1" generate civil --count 100000000 | head -n 2`
  const { stdout, stderr } = await promisify(execFile)('bash', ['-c', line, process.execPath, MAIN])
  expect(stdout.trimEnd().split('\n')).toHaveLength(2)
  expect(stderr).toBe('')
})

test.each([
  [['generate', 'church'], `Allowed choices are ${kinds.join(', ')}`],
  [['generate', 'civil', '--count', '-1'], 'It must be a whole number from 0 to'],
  [['generate', 'civil', '--count', '1e3'], 'It must be a whole number from 0 to'],
])('%j is not understood: exit code 2', async (words, message) => {
  const { code, stdout, stderr } = await rollcall(words)
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  expect(stderr).toContain(message)
})
