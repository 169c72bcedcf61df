import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { createParticipantGuards } from './address-guard.ts'
import { AddressRefused } from './problems.ts'

const LOOPBACK = { host: '127.0.0.1', ports: 'any', plainHttp: true, loopback: true } as const
const REQUEST = { method: 'GET', timeoutMs: 2_000, maxBytes: 100 } as const

test('a participant keeps its guard as long as its hosts stay the same', async () => {
  const guards = createParticipantGuards()
  const guard = guards.of({ id: 1, outgoing: [LOOPBACK] })
  expect(guards.of({ id: 1, outgoing: [{ ...LOOPBACK }] })).toBe(guard)
  expect(guards.of({ id: 2, outgoing: [LOOPBACK] })).not.toBe(guard)
  expect(guards.of({ id: 1, outgoing: [] })).not.toBe(guard)
  await guards.close()
})

test('what is allowed one participant is allowed nobody else, and not when it is taken back', async () => {
  const server = createServer((_request, response) => response.end('here'))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  const guards = createParticipantGuards()
  const { status } = await guards.of({ id: 1, outgoing: [LOOPBACK] }).request(address, REQUEST)
  expect(status).toBe(200)
  for (const id of [1, 2]) {
    const refused = guards.of({ id, outgoing: [] }).request(address, REQUEST)
    await expect(refused).rejects.toThrow(new AddressRefused('scheme'))
  }
  await guards.close()
  // Ends only when no connection is left open.
  await new Promise((resolve) => server.close(resolve))
})
