import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { keyPair } from '../../../core/test/key-pairs.ts'
import { readListenSettings } from './listening.ts'

const { jwk } = keyPair('Ed25519')
let path: string
beforeAll(async () => {
  path = join(await mkdtemp(join(tmpdir(), 'rollcall-peers-')), 'keys.json')
  await writeFile(path, JSON.stringify(jwk))
})
afterAll(() => rm(join(path, '..'), { recursive: true }))

test('registries are named with where their keys are', async () => {
  const peer = ['a=https://a.example', 'b=https://b.example/keys', `c=${path}`]
  expect(await readListenSettings({ peer, senderId: 'sp.example' })).toEqual({
    receiver_id: 'sp.example',
    decryption_keys: [],
    peers: [
      { sender_id: 'a', keys: 'https://a.example/.well-known/jwks.json' },
      { sender_id: 'b', keys: 'https://b.example/keys' },
      { sender_id: 'c', keys: { keys: [jwk] } },
    ],
  })
})

test('without keys only where nothing is verified', async () => {
  const off = { peer: ['a'], senderId: 'sp.example', verify: 'off' } as const
  expect((await readListenSettings(off)).peers).toEqual([{ sender_id: 'a', signature: 'off' }])
  await expect(readListenSettings({ ...off, verify: 'if-present' })).rejects.toThrow(
    '--peer a names no keys; write a=ADDRESS or a=FILE',
  )
})
