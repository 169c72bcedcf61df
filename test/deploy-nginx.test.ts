/** The file for nginx, read as text. Where nginx is installed, it reads the file and passes on a search: production.world.test.ts. */

import { DEFAULT_LIMITS } from '@rollcall/core/limits'
import { expect, it } from 'vitest'
import { text } from './deploy-files.ts'

const file = text('deploy/nginx/rollcall.conf')
const lines = file
  .split('\n')
  .map((line) => line.replace(/\s*#.*$/, '').trim())
  .filter((line) => line !== '')

/** The value of a directive that stands there once. */
function value(name: string): string {
  const found = lines.filter((line) => line.startsWith(`${name} `))
  expect(found, name).toHaveLength(1)
  return (found[0] ?? '').slice(name.length + 1, -1)
}

it('has closed blocks, and every other line is a directive', () => {
  let depth = 0
  for (const line of lines) {
    if (line === '}') depth -= 1
    else if (/^[a-z][a-z ]*[/]? ?\{$/.test(line)) depth += 1
    else expect(line).toMatch(/^[a-z0-9_]+(?: .*)?;$/)
    expect(depth).toBeGreaterThanOrEqual(0)
  }
  expect(depth).toBe(0)
})

it('passes on what the server accepts, and tells it the address of the peer alone', () => {
  expect(value('client_max_body_size')).toBe(`${DEFAULT_LIMITS.upload_bytes / 2 ** 20}m`)
  expect(lines).toContain('proxy_set_header X-Forwarded-For $remote_addr;')
  expect(lines).toContain('proxy_set_header Host $http_host;')
  expect(value('proxy_http_version')).toBe('1.1')
})

it('goes to the listener of peers, never to that of the operator, and speaks TLS 1.2 or later', () => {
  expect(lines.filter((line) => line.startsWith('server 1'))).toEqual(['server 127.0.0.1:8080 max_fails=1 fail_timeout=5s;'])
  expect(file).not.toContain('8081')
  expect(value('ssl_protocols')).toBe('TLSv1.2 TLSv1.3')
})
