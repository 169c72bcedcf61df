/** nginx with the file of deploy/, on a port of its own. */
import { execFileSync, spawn } from 'node:child_process'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { loopbackCertificate, loopbackKey } from '../../admin/test/loopback-certificate.ts'
import { running } from './command.ts'

const FILE = new URL('../../../deploy/nginx/rollcall.conf', import.meta.url)

/** Replaces ports, and the lines that the file marks with CHANGE. Each must be there. */
function changed(text: string, changes: readonly (readonly [string, string])[]): string {
  return changes.reduce((so, [from, to]) => {
    if (!so.includes(from)) throw new Error(`rollcall.conf has no ${from}`)
    return so.replace(from, to)
  }, text)
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  return typeof address === 'object' && address !== null ? address.port : 0
}

/**
 * Lets nginx check the file, and starts it.
 * @param program the path of nginx
 * @param folder receives its files
 * @param node the port of the peers' listener
 */
export async function startNginx(program: string, folder: string, node: number) {
  const port = await freePort()
  const [certificate, key, file] = ['nginx.pem', 'nginx.key', 'nginx.conf'].map((name) => join(folder, name))
  await writeFile(certificate ?? '', loopbackCertificate)
  await writeFile(key ?? '', loopbackKey, { mode: 0o600 })
  const server = changed(await readFile(FILE, 'utf8'), [
    ['server 127.0.0.1:8080 ', `server 127.0.0.1:${node} `],
    ['listen 443 ', `listen 127.0.0.1:${port} `],
    ['listen [::]:443 ', `listen [::1]:${port} `],
    ['/etc/ssl/certs/registry.pem', certificate ?? ''],
    ['/etc/ssl/private/registry.key', key ?? ''],
  ])
  const folders = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => {
    return { directive: `${name}_temp_path`, path: join(folder, `nginx-${name}`) }
  })
  await Promise.all(folders.map(({ path }) => mkdir(path)))
  const paths = folders.map(({ directive, path }) => `${directive} ${path};`).join('\n')
  // One process, as the user of the test.
  const whole = `daemon off; master_process off; pid ${join(folder, 'nginx.pid')}; error_log stderr;
    events {}
    http { access_log off; ${paths} ${server} }`
  await writeFile(file ?? '', whole)
  const words = ['-p', folder, '-c', file ?? '', '-e', 'stderr']
  execFileSync(program, ['-t', ...words], { stdio: 'pipe' })
  return { url: `https://127.0.0.1:${port}`, ...running(spawn(program, words, { stdio: 'pipe' })) }
}
