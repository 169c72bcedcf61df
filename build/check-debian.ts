/**
 * Installs the Debian package on a new machine, and uses it as docs/small-registry.md says:
 *
 *   npm run check:debian
 *
 * It needs root on Debian with `debootstrap`, `systemd-container` and `dpkg-deb`, and says so where it cannot run. The machine is a
 * Debian in a folder with its own systemd, PostgreSQL and nginx, and no network but its own loopback.
 */
import assert from 'node:assert/strict'
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { useRunFolder } from '../test/run-folder.ts'
import { manifestOf } from './build-package.ts'
import { hasDpkg, writeDebianPackage } from './debian.ts'
import { installIn, lacking, makeDebian, NEEDED } from './debian-base.ts'
import { type Machine, startMachine } from './debian-machine.ts'

const say = (...words: string[]): void =>
  void process.stdout.write(`debian, ${Math.round(process.uptime())} s: ${words.join(' ')}\n`)

const missing = lacking([...NEEDED, ['systemd-nspawn', '--version'], ['nsenter', '--version']])
if (missing.length > 0 || !hasDpkg()) {
  say(
    'skipped: it needs root on Debian, and these fail here:',
    [...missing, ...(hasDpkg() ? [] : ['dpkg-deb'])].join(', '),
  )
  process.exit(0)
}

/** What an operator has before the package: `apt install` gets the last three with it. */
const INSTALLED = ['systemd', 'systemd-sysv', 'procps', 'adduser', 'openssl', 'libstdc++6', 'postgresql', 'nginx']

// On the disk: a Debian is too large for a folder in memory.
useRunFolder('/var/tmp')
const folder = mkdtempSync(join(tmpdir(), 'debian-'))
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(1))
const { version } = manifestOf('.')

async function check(): Promise<void> {
  const debian = join(folder, 'machine')
  const packed = writeDebianPackage(folder, version)
  assert(packed !== null)
  say('the package is made')
  makeDebian(debian)
  installIn(debian, INSTALLED)
  copyFileSync(packed, join(debian, 'root/rollcall.deb'))
  const machine = await startMachine(debian)
  say('the machine runs')
  try {
    install(machine)
    purge(machine)
    say('everything is as docs/small-registry.md says')
  } finally {
    await machine.stop()
  }
}

/** Without a network: what the package needs is installed. */
function install({ run, try: attempt }: Machine): void {
  run('apt-get install --yes --no-install-recommends /root/rollcall.deb')
  assert.equal(run('rollcall --version').trim(), version)
  const writable = 'find /usr/lib/rollcall /usr/bin/rollcall /lib/systemd/system/rollcall* ! -type l'
  assert.equal(run(`${writable} \\( ! -user root -o ! -group root -o -perm /022 \\)`), '')
  for (const above of [
    '/',
    '/usr',
    '/usr/lib',
    '/usr/bin',
    '/etc',
    '/etc/rollcall',
    '/var/lib',
    '/var/backups',
    '/run',
  ]) {
    assert.match(run(`stat --format '%U %a' ${above}`), /^root 755\n$/, above)
  }
  assert.match(
    run('stat --format "%U %G %a" /var/lib/rollcall /var/backups/rollcall'),
    /^(?:rollcall rollcall 700\n){2}$/,
  )
  assert.match(run('getent passwd rollcall'), /:\/usr\/sbin\/nologin\n$/)
  assert.match(run('cat /var/lib/dpkg/info/rollcall.conffiles'), /^\/etc\/rollcall\/rollcall\.env$/m)
  assert.equal(run('dpkg --verify rollcall'), '')
  // Nothing is started before there are settings, and another user than root has none.
  assert.equal(attempt('systemctl is-active rollcall@8080').said, 'inactive\n')
  assert.deepEqual(attempt('setpriv --reuid nobody --clear-groups rollcall doctor'), {
    code: 1,
    said: 'rollcall: root alone reads the settings of this machine: run sudo rollcall doctor\n',
  })
  say('the package is installed')
}

/** Data and keys stay unless they are named. */
function purge({ run, try: attempt }: Machine): void {
  run('touch /etc/rollcall/master-key /var/backups/rollcall/one')
  run('apt-get purge --yes rollcall')
  run('test -e /etc/rollcall/master-key -a -e /var/backups/rollcall/one -a -d /var/lib/rollcall')
  assert.equal(attempt('test -e /usr/lib/rollcall').code, 1)
  run(
    'apt-get install --yes --no-install-recommends /root/rollcall.deb && ROLLCALL_PURGE=data apt-get purge --yes rollcall',
  )
  for (const gone of ['/etc/rollcall', '/var/backups/rollcall', '/var/lib/rollcall', '/usr/bin/rollcall'])
    assert.equal(attempt(`test -e ${gone}`).code, 1, gone)
  say('purged: data and keys stay unless ROLLCALL_PURGE=data')
}

try {
  await check()
} finally {
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
}
