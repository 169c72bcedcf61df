/** The peers of `rollcall listen`, its listener, and the shell command of --exec that gets the callbacks. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Peer } from '@rollcall/client'
import { nodeListener } from '@rollcall/client/node'
import type { Jwk } from '@rollcall/protocol'
import { CommandError } from '../failure.ts'
import { readDemoFile } from './demo.ts'
import { readPrivateKey, readPublicKeys } from './private-key.ts'
import type { KeyOptions } from './registry-options.ts'
import { publishedKeysAddress, readAddress } from './target.ts'

export interface PeerOptions extends KeyOptions {
  readonly peer?: readonly string[]
  readonly senderId?: string
}

export interface ListenSettings {
  readonly peers: readonly Peer[]
  readonly receiver_id: string
  readonly decryption_keys: readonly Jwk[]
}

/** Reads from options or demo.json which peers may call back, our own sender_id and our keys to decrypt. @throws CommandError */
export async function readListenSettings(options: PeerOptions): Promise<ListenSettings> {
  const { peer: named, senderId, verify, decryptKey, decryptKid } = options
  const policy = verify === undefined ? {} : { signature: verify }
  const own = decryptKey === undefined ? null : [await readPrivateKey(decryptKey, decryptKid)]
  if (named !== undefined) {
    if (senderId === undefined) throw new CommandError('--peer needs --sender-id, our own sender_id at these registries')
    const peers = await Promise.all(named.map((text) => readPeer(text, policy)))
    return { peers, receiver_id: senderId, decryption_keys: own ?? [] }
  }
  const demo = await readDemoFile()
  if (demo === null) {
    throw new CommandError('name the registries that may call back with --peer, or start the demo first (npm start)')
  }
  const keys = publishedKeysAddress(demo.base_url)
  return {
    peers: demo.registries.map(({ receiver_id }) => ({ sender_id: receiver_id, keys, ...policy })),
    receiver_id: senderId ?? demo.participant.sender_id,
    decryption_keys: own ?? [demo.participant.encrypt.private_jwk as Jwk],
  }
}

/** Reads a peer such as `civil.example=https://civil.example`: its sender_id, and the address or file of its keys. */
async function readPeer(text: string, policy: Pick<Peer, 'signature'>): Promise<Peer> {
  const at = text.indexOf('=')
  const sender_id = at === -1 ? text : text.slice(0, at)
  if (sender_id === '')
    throw new CommandError('--peer must be a sender_id and its keys, such as civil.example=https://registry.example')
  if (at === -1) {
    if (policy.signature === 'off') return { sender_id, ...policy }
    throw new CommandError(`--peer ${sender_id} names no keys; write ${sender_id}=ADDRESS or ${sender_id}=FILE`)
  }
  const keys = text.slice(at + 1)
  if (!/^https?:/.test(keys)) return { sender_id, ...policy, keys: await readPublicKeys(keys) }
  const address = readAddress('--peer', keys)
  return { sender_id, ...policy, keys: address.pathname === '/' ? publishedKeysAddress(address) : address.href }
}

export interface CallbackServer {
  readonly url: string
  /** Accepts no more requests, and waits for those under way, 10 seconds at most. */
  close(): Promise<void>
}

export interface ListenAddress {
  readonly host: string
  readonly port: number
}

/** Milliseconds for which a request under way may go on after `close` was called; then its connection is cut. */
const LONGEST_CLOSE_MILLISECONDS = 10_000

const PORT_PROBLEMS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'is taken by another program; choose another',
  EACCES: 'needs rights that this user does not have; choose another',
}

/** Starts a server for callbacks. @throws CommandError the address or the port cannot be listened on */
export async function listenForCallbacks(
  { host, port }: ListenAddress,
  handle: (request: Request) => Promise<Response>,
): Promise<CallbackServer> {
  const server = createServer(nodeListener({ handle }))
  server.listen(port, host)
  await once(server, 'listening').catch((error: NodeJS.ErrnoException) => {
    const problem = PORT_PROBLEMS[error.code ?? '']
    if (problem !== undefined) throw new CommandError(`port ${port} ${problem}`)
    throw new CommandError(`${host} is not an address of this machine (${error.code})`)
  })
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${(server.address() as AddressInfo).port}`,
    async close() {
      const closed = once(server, 'close')
      server.close()
      // An idle connection must not delay the end of the server.
      const sweep = setInterval(() => server.closeIdleConnections(), 20)
      const end = setTimeout(() => server.closeAllConnections(), LONGEST_CLOSE_MILLISECONDS)
      await closed
      clearInterval(sweep)
      clearTimeout(end)
    },
  }
}

const LOOPBACK_ADDRESSES = ['127.0.0.1', 'localhost', '::1']

/** Warns on standard error that other machines reach `host` in plain HTTP, unless `host` is a loopback address. */
export function warnOfOpenHost(host: string): void {
  if (LOOPBACK_ADDRESSES.includes(host)) return
  process.stderr.write(`rollcall: ${host} is reached from other machines in plain HTTP: put a proxy that speaks TLS before it\n`)
}

/** Thrown when the command of --exec did not accept an envelope. */
export class ExecCommandFailed extends Error {
  override readonly name = 'ExecCommandFailed'
}

/**
 * Makes a function that gives envelopes to a shell command, one after the other. The function resolves when the command ended
 * with exit code 0, and rejects with ExecCommandFailed otherwise.
 * @param command the shell command; it gets the decrypted envelope as one JSON text on its standard input
 * @param stdout where the command's output goes; `stderr` keeps it out of our own standard output, which --json has for JSON
 */
export function createExecHandOver(command: string, stdout: 'inherit' | 'stderr'): (envelope: object) => Promise<void> {
  let last: Promise<unknown> = Promise.resolve()
  return (envelope) => {
    const mine = last.then(() => runExecCommand(command, JSON.stringify(envelope), stdout))
    last = mine.catch(() => undefined)
    return mine
  }
}

function runExecCommand(command: string, input: string, stdout: 'inherit' | 'stderr'): Promise<void> {
  return new Promise((resolve, reject) => {
    const output = stdout === 'stderr' ? 2 : stdout
    const child = spawn(command, { shell: true, stdio: ['pipe', output, 'inherit'] })
    // It is no failure that a command ends without reading its input.
    child.stdin?.on('error', () => undefined)
    child.stdin?.end(`${input}\n`)
    child.once('error', () => reject(new ExecCommandFailed('the command of --exec cannot be started')))
    child.once('close', (code, signal) => {
      if (code === 0) resolve()
      else reject(new ExecCommandFailed(`the command of --exec ended with ${code ?? signal}`))
    })
  })
}
