/** Files of deploy/ as the programs read them that use them. nginx also passes on a search: production.world.test.ts. */
import { execFileSync, spawnSync } from 'node:child_process'
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { programOrSkip } from './programs.ts'

const root = join(import.meta.dirname, '..')

it('the image is not built where it cannot be, which is said', () => {
  const words = ['--disable-warning=ExperimentalWarning', 'build/check-image.ts']
  const env = { PATH: join(root, 'node_modules/.bin') }
  expect(execFileSync(process.execPath, words, { cwd: root, env, encoding: 'utf8' })).toMatch(
    /^image, \d+ s: skipped: it needs root on Debian, and these fail here: debootstrap --version, unshare --mount true, buildah --version\n$/,
  )
})

it.each([
  ['1000', 0, []],
  ['0', 0, ['1000:1000 files\n']],
  ['1001', 1, ['1000:1000 files\n', 'Give ./files to the user 1000, as root: chown 1000:1000 files\n']],
])('make-secrets, run by the user %s, gives files to the user of the containers, or says so', (user, code, expected) => {
  const folder = mkdtempSync(join(tmpdir(), 'rollcall-secrets-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  copyFileSync(join(root, 'deploy/compose/make-secrets'), join(folder, 'make-secrets'))
  const programs = { id: `echo ${user}`, chown: `echo "$@" >&2; exit ${code}`, openssl: 'echo secret' }
  for (const [name, does] of Object.entries(programs)) writeFileSync(join(folder, name), `#!/bin/sh\n${does}\n`, { mode: 0o755 })
  const env = { PATH: `${folder}:${process.env.PATH}` }
  const { status, stderr } = spawnSync('sh', [join(folder, 'make-secrets')], { env, encoding: 'utf8' })
  expect([status, stderr]).toEqual([0, expected.join('')])
})

it('caddy takes the Caddyfile', (context) => {
  const caddy = programOrSkip(context, 'caddy')
  const home = mkdtempSync(join(tmpdir(), 'rollcall-caddy-'))
  onTestFinished(() => rmSync(home, { recursive: true }))
  const env = {
    HOME: home,
    XDG_DATA_HOME: home,
    XDG_CONFIG_HOME: home,
    ROLLCALL_DOMAIN: 'registry.example.org',
    ROLLCALL_CONTACT: 'operator@example.org',
  }
  const words = ['validate', '--adapter', 'caddyfile', '--config', 'deploy/compose/Caddyfile']
  expect(execFileSync(caddy, words, { cwd: root, env, encoding: 'utf8', stdio: 'pipe' })).toContain('Valid')
})

it('Prometheus takes its configuration and the rules of alerts', (context) => {
  const promtool = programOrSkip(context, 'promtool')
  const check = (...words: string[]) => execFileSync(promtool, ['check', ...words], { cwd: root, encoding: 'utf8' })
  expect(check('rules', 'deploy/prometheus/rules.yaml')).toMatch(/SUCCESS: [1-9]\d* rules found/)
  // The rules stand in another folder there.
  expect(check('config', '--syntax-only', 'deploy/prometheus/prometheus.yaml')).toContain('SUCCESS')
})
