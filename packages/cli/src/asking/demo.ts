/** Reads demo.json of this machine: with it commands find the demo, and need no credentials. */
import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { systemReason } from '@rollcall/base/shared/system-error'
import { PROTOCOL_VERSION } from '@rollcall/protocol'
import type { DemoFile, DemoRegistry } from '../demo/demo-file.ts'
import { CommandError } from '../failure.ts'

/** The path of demo.json. The configuration of the server has this path too, but takes a second to load. */
const demoJsonPath = (): string => resolve(process.env.ROLLCALL_DATA || '.rollcall', 'demo.json')

/** Reads demo.json; null: there is no such file. @throws CommandError the file cannot be read, or is damaged */
export async function readDemoFile(): Promise<DemoFile | null> {
  const path = demoJsonPath()
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null
    throw new CommandError(`the file ${path} cannot be read: ${systemReason(error)}`)
  })
  if (text === null) return null
  try {
    const demo = JSON.parse(text) as DemoFile
    if (typeof demo.participant.sender_id === 'string' && Array.isArray(demo.registries)) return demo
  } catch {
    // The file is no JSON, or lacks a member: the CommandError below says that it is damaged.
  }
  throw new CommandError(`the file ${path} is damaged; start the demo again (npm start)`)
}

/** Finds the demo's registry with this namespace; without a namespace, its first registry. @throws CommandError there is none */
export function requireDemoRegistry({ registries }: DemoFile, namespace: string | undefined): DemoRegistry {
  const found = registries.find((registry) => namespace === undefined || registry.namespace === namespace)
  if (found !== undefined) return found
  const names = registries.map((registry) => registry.namespace).join(', ')
  throw new CommandError(`the demo has no registry ${namespace}; it has ${names}`)
}

export const demoRegistryUrl = ({ base_url }: DemoFile, { namespace }: DemoRegistry): string =>
  `${base_url}/${namespace}/v${PROTOCOL_VERSION}`

/** Finds the registry of the demo at this base address; undefined: there is none. */
export function findDemoRegistryAt(demo: DemoFile, base_url: URL): DemoRegistry | undefined {
  return demo.registries.find((registry) => isSameServer(new URL(demoRegistryUrl(demo, registry)), base_url, { path: true }))
}

/** True when an address is on the demo's server: the credentials of the demo's participant are sent nowhere else. */
export const isOnDemoServer = (demo: DemoFile, address: URL): boolean => isSameServer(new URL(demo.base_url), address)

const LOOPBACK_HOSTS = ['127.0.0.1', 'localhost', '[::1]']

/** True when an address names this machine as 127.0.0.1, localhost or ::1. */
export const isLoopbackAddress = ({ hostname }: URL): boolean => LOOPBACK_HOSTS.includes(hostname)

function isSameServer(one: URL, other: URL, { path = false } = {}): boolean {
  const hosts = one.hostname === other.hostname || (isLoopbackAddress(one) && isLoopbackAddress(other))
  const paths = !path || one.pathname.replace(/\/+$/, '') === other.pathname.replace(/\/+$/, '')
  return hosts && paths && one.protocol === other.protocol && one.port === other.port
}
