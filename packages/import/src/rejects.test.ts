import { appendFile, mkdtemp, readFile, rm, truncate } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openRejects } from './rejects.ts'

const FIRST = { line: 1, reason: 'no usable UIN' }
const SECOND = { line: 9, reason: 'the record must be a JSON object' }
const lineOf = (reject: object) => `${JSON.stringify(reject)}\n`

test.each([
  ['deleted', (path: string) => rm(path), ''],
  ['emptied', (path: string) => truncate(path), ''],
  ['cut', (path: string) => truncate(path, 5), lineOf(FIRST).slice(0, 5)],
])('an import that goes on after its rejects file was %s, and is killed, lists each line once', async (_how, change, left) => {
  const folder = await mkdtemp(join(tmpdir(), 'rollcall-rejects-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const path = join(folder, 'rejects.ndjson')
  /** Opens the file at the length of the last committed batch, and adds a line. @returns the length that is committed with it */
  const append = async (bytes: number, reject: typeof FIRST) => {
    const file = await openRejects(path, bytes)
    await file.append([reject])
    await file.close()
    return file.bytes
  }
  const first = await append(0, FIRST)
  await change(path)
  const second = await append(first, SECOND)
  // As a process leaves it that is killed before its batch is committed.
  await appendFile(path, lineOf(SECOND))
  const file = await openRejects(path, second)
  await file.close()
  expect(await readFile(path, 'utf8')).toBe(left + lineOf(SECOND))
})
