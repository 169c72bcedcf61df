import { createSecretKey } from 'node:crypto'
import fs, { type FileHandle, mkdtemp, open, readdir, rm, writeFile } from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { StoreRefusal } from '@rollcall/database/refusal'
import { expect, onTestFinished, test, vi } from 'vitest'
import type { BackupHeader } from './file-format.ts'
import { createBackupFile } from './write-file.ts'

const KEY = createSecretKey(Buffer.alloc(32))
const HEADER: BackupHeader = {
  format: 1,
  id: '0c0e9a4e-52a7-4f0e-8a50-3f1a4d0d3c11',
  snapshot_at: '2026-02-03T09:15:00Z',
  snapshot: '1:1:',
  schema: [],
  master_key: { version: 1, check_value: '' },
  key: '',
  journal: { sequence: 0, digest: '' },
}

/** A new folder, and the path of a backup in it. */
async function backupPath() {
  const folder = await mkdtemp(join(tmpdir(), 'rollcall-backup-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  return { folder, path: join(folder, 'one.backup') }
}

/** Lets the next write to a file fail, as on a full disk. @returns the files whose write failed */
async function fillDisk(folder: string): Promise<readonly FileHandle[]> {
  const other = await open(folder)
  await other.close()
  const failed: FileHandle[] = []
  const writing = vi.spyOn(Object.getPrototypeOf(other) as FileHandle, 'write')
  onTestFinished(() => writing.mockRestore())
  writing.mockImplementationOnce(function (this: FileHandle) {
    failed.push(this)
    return Promise.reject(Object.assign(new Error('full'), { code: 'ENOSPC' }))
  })
  return failed
}

test('a header that cannot be written leaves no file, and none open', async () => {
  const { folder, path } = await backupPath()
  const failed = await fillDisk(folder)
  await expect(createBackupFile(path, HEADER, KEY)).rejects.toThrow(new StoreRefusal(`${path}: cannot be written (ENOSPC)`))
  // A file that was closed has no number.
  expect(failed.map(({ fd }) => fd)).toEqual([-1])
  expect(await readdir(folder)).toEqual([])
})

test('a disk that becomes full refuses the backup, and nothing of it is left', async () => {
  const { folder, path } = await backupPath()
  const file = await createBackupFile(path, HEADER, KEY)
  const failed = await fillDisk(folder)
  await expect(file.finish(Buffer.from('{}'))).rejects.toThrow(new StoreRefusal(`${path}: cannot be written (ENOSPC)`))
  await file.abandon()
  expect(failed.map(({ fd }) => fd)).toEqual([-1])
  expect(await readdir(folder)).toEqual([])
})

test('on a file system without hard links the file gets its name too, and overwrites nothing', async () => {
  const { folder, path } = await backupPath()
  const linking = vi.spyOn(fs, 'link').mockRejectedValue(Object.assign(new Error('no links'), { code: 'EPERM' }))
  syncBuiltinESMExports()
  onTestFinished(() => {
    linking.mockRestore()
    syncBuiltinESMExports()
  })
  const file = await createBackupFile(path, HEADER, KEY)
  await file.finish(Buffer.from('{}'))
  expect(await readdir(folder)).toEqual(['one.backup'])
  await rm(path)
  const other = await createBackupFile(path, HEADER, KEY)
  await writeFile(path, 'another')
  await expect(other.finish(Buffer.from('{}'))).rejects.toThrow(
    new StoreRefusal(`${path}: is there already; a backup overwrites nothing`),
  )
  await other.abandon()
  expect(await readdir(folder)).toEqual(['one.backup'])
  expect(linking).toHaveBeenCalledTimes(2)
})
