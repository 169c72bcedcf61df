import { chmod, mkdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { isRoot, temporaryDirectory } from '../../test/embedded.ts'
import { clusterOwnerOf, mayEnterDirectory, newClusterUser } from './files.ts'

test('root turns into somebody, everybody else stays who he is', async () => {
  const user = await newClusterUser()
  if (isRoot) expect(user?.uid).toBeGreaterThan(0)
  else expect(user).toBeNull()
})

test('root starts a cluster as its owner, but not one that root owns', async () => {
  const owner = clusterOwnerOf('/')
  if (isRoot) await expect(owner).rejects.toThrow('PostgreSQL does not run as root, and root owns its files in /.')
  else await expect(owner).resolves.toBeNull()
})

test('who may enter is told by the mode of every folder on the way: owner, else group, else others', async () => {
  const directory = await temporaryDirectory(0o755)
  const { uid, gid } = await stat(directory)
  const modes = [
    [0o700, true, false, false],
    [0o710, true, true, false],
    [0o701, true, false, true],
    [0o071, false, true, true],
    [0o744, true, false, false],
  ] as const
  for (const [mode, owner, group, others] of modes) {
    const inner = join(directory, mode.toString(8), 'inner')
    await mkdir(inner, { recursive: true })
    await chmod(join(inner, '..'), mode)
    if (owner || isRoot) {
      expect(await mayEnterDirectory({ uid, gid }, inner)).toBe(owner)
      expect(await mayEnterDirectory({ uid: 54_321, gid }, inner)).toBe(group)
      expect(await mayEnterDirectory({ uid: 54_321, gid: 54_321 }, inner)).toBe(others)
      expect(await mayEnterDirectory(null, inner)).toBe(true)
    }
    await chmod(join(inner, '..'), 0o755)
  }
})
