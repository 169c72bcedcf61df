/** A way to PostgreSQL on which an answer can be lost: what was asked is done, and nobody is told. */
import { mkdtemp, rm } from 'node:fs/promises'
import { connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestServer } from './global-setup.ts'

export interface LossyWay {
  readonly connection: TestServer
  /** The number of lost answers. */
  readonly lost: () => number
  close(): Promise<void>
}

/**
 * @param loses whether this piece of an answer is lost, and its connection with it
 * @param how whether the end of the connection is told, or nothing is heard any more
 */
export async function lossyWay(
  to: TestServer,
  loses: (answer: Buffer) => boolean,
  how: 'ended' | 'silent' = 'ended',
): Promise<LossyWay> {
  const directory = await mkdtemp(join(tmpdir(), 'rollcall-lossy-'))
  const name = `.s.PGSQL.${to.port}`
  const sockets = new Set<Socket>()
  let lost = 0
  const server = createServer((near) => {
    const far = connect(join(to.host, name))
    const end = (): void => {
      near.destroy()
      far.destroy()
    }
    const gone = how === 'ended' ? end : () => undefined
    for (const socket of [near, far]) sockets.add(socket.on('error', gone).on('close', gone))
    near.pipe(far)
    far.on('data', (answer) => {
      if (!loses(answer)) return near.write(answer)
      lost += 1
      return how === 'ended' ? end() : far.destroy()
    })
  })
  await new Promise<void>((resolve) => server.listen(join(directory, name), resolve))
  return {
    connection: { ...to, host: directory },
    lost: () => lost,
    async close() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
      await rm(directory, { recursive: true, force: true })
    },
  }
}
