/** An npm registry on loopback: it has our tarballs, and the packages that `npm ci` installed. */
import { once } from 'node:events'
import { createReadStream, existsSync, globSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join, resolve } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Packed } from '../../build/pack.ts'
import type { Manifest } from '../../build/versions.ts'
import { tarOf } from './tar.ts'

const root = resolve(import.meta.dirname, '../..')

/** One version of a package. */
interface Published {
  readonly manifest: Manifest
  tarball(): Readable
}

export interface NpmRegistry {
  readonly url: string
  /** Names that were asked for and that it does not have. */
  readonly missing: ReadonlySet<string>
  close(): Promise<void>
}

/** @param packed our packages */
export async function npmRegistry(packed: readonly Packed[]): Promise<NpmRegistry> {
  const packages = new Map<string, Published[]>()
  const missing = new Set<string>()
  const add = (published: Published): void => {
    const { name } = published.manifest
    packages.set(name, [...(packages.get(name) ?? []), published])
  }
  for (const folder of installedFolders()) {
    const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest
    add({ manifest, tarball: () => Readable.from(tarOf(folder)) })
  }
  for (const { path, manifest } of packed) add({ manifest, tarball: () => createReadStream(path) })

  const server = createServer((request, response) => {
    const [name = '', version] = decodeURIComponent(request.url ?? '')
      .slice(1)
      .split('/-/')
    const found = packages.get(name)
    if (found === undefined) {
      missing.add(name)
      response.writeHead(404).end()
    } else if (version === undefined) {
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(described(name, found)))
    } else {
      const one = found.find(({ manifest }) => manifest.version === version)
      if (one === undefined) response.writeHead(404).end()
      else pipeline(one.tarball(), response).catch(() => response.destroy())
    }
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

  /** A package as npm reads it. */
  const described = (name: string, all: readonly Published[]): object => ({
    name,
    'dist-tags': { latest: all[0]?.manifest.version },
    versions: Object.fromEntries(
      all.map(({ manifest }) => {
        const dist = { tarball: `${url}/${name}/-/${manifest.version}` }
        return [manifest.version, { ...manifest, dist }]
      }),
    ),
  })
  return {
    url,
    missing,
    async close() {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}

/** Folders of all packages that npm installed, and of the programs that the package `node` installed. */
function installedFolders(): readonly string[] {
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as { packages: Record<string, { link?: true }> }
  const installed = Object.entries(lock.packages)
    .filter(([path, { link }]) => path.includes('node_modules/') && link !== true)
    .map(([path]) => join(root, path))
  const programs = globSync('node_modules/node/node_modules/node-*', { cwd: root }).map((path) => join(root, path))
  return [...installed, ...programs].filter((folder) => existsSync(join(folder, 'package.json')))
}
