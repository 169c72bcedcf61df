/** The file of a backup, changed on purpose: it is found before a row is restored. */
import { randomBytes } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { verifyBackup } from '@rollcall/admin/backup/backup'
import { restoreDatabase } from '@rollcall/admin/backup/restore'
import { MAGIC } from '@rollcall/backup/backup/file-format'
import { listSchemaObjects } from '@rollcall/backup/store/catalog'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { acting } from '../../../admin/test/acting.ts'
import { backupOf, depsOf, emptyTarget, folder, masterKeys, world } from '../restoring.ts'

let [whole, another] = [Buffer.alloc(0), Buffer.alloc(0)]
let path = ''

/** Writes these bytes over the backup of a test. */
async function written(bytes: Uint8Array): Promise<string> {
  await writeFile(path, bytes)
  return path
}

const verified = (file: string) => verifyBackup({ masterKeys: masterKeys() }, { file })

/** Begin and end of each chunk, its length included. */
function chunksOf(file: Buffer): readonly { readonly from: number; readonly to: number }[] {
  const found = []
  for (let at = file.indexOf('\n', MAGIC.length) + 1; at < file.length; ) {
    const to = at + 4 + file.readUInt32BE(at)
    found.push({ from: at, to })
    at = to
  }
  return found
}

test('a backup is verified without a database, and any change of it is found', async () => {
  const from = await world()
  whole = await readFile(await backupOf(from))
  another = await readFile(await backupOf(from))
  path = join(await folder(), 'changed')
  expect(await verified(await written(whole))).toMatchObject({ bytes: whole.length })

  await fc.assert(
    fc.asyncProperty(fc.nat(whole.length - 1), fc.integer({ min: 1, max: 255 }), async (at, change) => {
      const bytes = Buffer.from(whole)
      bytes[at] = (bytes[at] ?? 0) ^ change
      await expect(verified(await written(bytes))).rejects.toThrow(/damaged|no backup|another master key/)
    }),
    // Each verification reads the file; a byte of each part of a chunk is among so many.
    { numRuns: 80 },
  )
  await fc.assert(
    fc.asyncProperty(fc.nat(whole.length - 1), async (length) => {
      await expect(verified(await written(whole.subarray(0, length)))).rejects.toThrow(/damaged|no backup/)
    }),
    { numRuns: 40 },
  )

  const chunks = chunksOf(whole)
  expect(chunks.length).toBeGreaterThan(20)
  // Cut off behind each chunk.
  for (const { to } of chunks.slice(0, -1)) {
    await expect(verified(await written(whole.subarray(0, to)))).rejects.toThrow(
      /^the file is damaged at chunk \d+: it was changed, or the file was cut$/,
    )
  }
  const piece = ({ from: begin, to }: { from: number; to: number }, of = whole) => of.subarray(begin, to)
  const [head, first, second] = [whole.subarray(0, chunks[0]?.from), chunks[1], chunks[2]]
  if (first === undefined || second === undefined) throw new Error('too few chunks')
  const rest = whole.subarray(second.to)
  const swapped = [head, piece(chunks[0] ?? first), piece(second), piece(first), rest]
  const doubled = [whole.subarray(0, second.to), piece(second), rest]
  const left = [whole.subarray(0, first.from), whole.subarray(first.to)]
  const foreign = [whole.subarray(0, first.from), piece(chunksOf(another)[1] ?? first, another), whole.subarray(first.to)]
  const longer = [whole, Buffer.of(0)]
  const headOf = [another.subarray(0, chunksOf(another)[0]?.from), whole.subarray(head.length)]
  for (const parts of [swapped, doubled, left, foreign, longer, headOf]) {
    await expect(verified(await written(Buffer.concat(parts)))).rejects.toThrow(/^the file is damaged/)
  }

  // The header says another time, or another schema.
  const header = JSON.parse(head.subarray(MAGIC.length).toString())
  const withHeader = (changed: object) =>
    written(Buffer.concat([MAGIC, Buffer.from(`${JSON.stringify(changed)}\n`), whole.subarray(head.length)]))
  for (const change of [{ snapshot_at: '2000-01-01T00:00:00.000Z' }, { schema: [] }, { more: 1 }, { id: 'x' }]) {
    await expect(verified(await withHeader({ ...header, ...change }))).rejects.toThrow(/^the file is damaged/)
  }
  // Each member may be missing, or of another type: it is looked at before it is used.
  const { master_key, journal } = header
  for (const value of [undefined, null, 1, 'x', {}, []]) {
    const members = Object.keys(header).map((name) => ({ ...header, [name]: value }))
    const ofKey = Object.keys(master_key).map((name) => ({ ...header, master_key: { ...master_key, [name]: value } }))
    const ofJournal = Object.keys(journal).map((name) => ({ ...header, journal: { ...journal, [name]: value } }))
    for (const changed of [...members, ...ofKey, ...ofJournal]) {
      if (JSON.stringify(changed) === JSON.stringify(header)) continue
      await expect(verified(await withHeader(changed))).rejects.toThrow(
        /^the file is damaged|^the file is no backup|^the backup was made under another master key/,
      )
    }
  }

  // Nothing of a damaged file is restored.
  const into = await emptyTarget()
  const bytes = Buffer.from(whole)
  bytes[bytes.length - 20] = (bytes[bytes.length - 20] ?? 0) ^ 1
  await expect(restoreDatabase(acting(depsOf(into)), { file: await written(bytes), without_journal: 'test' })).rejects.toThrow(
    /^the file is damaged at chunk/,
  )
  expect(await listSchemaObjects(into.ownerDb.pool)).toEqual([])
})

test('another master key opens nothing, and is named as what it is', async () => {
  const file = await backupOf(await world())
  const another = masterKeys(randomBytes(32).toString('base64'))
  await expect(verifyBackup({ masterKeys: another }, { file })).rejects.toThrow(
    'the backup was made under another master key: set ROLLCALL_MASTER_KEY as it was at that time (docs/backup.md)',
  )
})
