/**
 * Installs the Debian package on a new machine, and uses it as docs/small-registry.md says:
 *
 *   npm run check:debian
 *
 * It needs root on Debian with `debootstrap`, `systemd-container` and `dpkg-deb`, and says so where it cannot run. The machine is a
 * Debian in a folder with its own systemd, PostgreSQL and nginx, and no network but its own loopback.
 */
import assert from 'node:assert/strict'
import { appendFileSync, copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { useRunFolder } from '../test/run-folder.ts'
import { manifestOf } from './build-package.ts'
import { hasDpkg, writeDebianPackage } from './debian.ts'
import { installIn, lacking, makeDebian, NEEDED } from './debian-base.ts'
import { certify, renew, SIGN } from './debian-certificates.ts'
import { type Machine, startMachine } from './debian-machine.ts'
import { askRegistry, blockWith, type Search, type } from './debian-page.ts'

const say = (...words: string[]): void =>
  void process.stdout.write(`debian, ${Math.round(process.uptime())} s: ${words.join(' ')}\n`)

const missing = lacking([...NEEDED, ['systemd-nspawn', '--version'], ['nsenter', '--version']])
if (missing.length > 0 || !hasDpkg()) {
  say('skipped: it needs root on Debian, and these fail here:', [...missing, ...(hasDpkg() ? [] : ['dpkg-deb'])].join(', '))
  process.exit(0)
}

/** Packages that are installed before ours: `apt install` brings those of the second line with it, and those of the third are for the check alone. */
const INSTALLED = [
  ...['systemd', 'systemd-sysv', 'procps', 'adduser', 'openssl', 'libstdc++6'],
  ...['postgresql', 'nginx', 'rsync', 'openssh-client'],
  ...['openssh-server', 'python3-cryptography', 'certbot', 'pebble'],
]

// The run folder is on the disk: a Debian is too large for a folder in memory.
useRunFolder('/var/tmp')
const folder = mkdtempSync(join(tmpdir(), 'debian-'))
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(1))
const { version } = manifestOf('.')
const NEXT = '999.0.0'
const NAME = 'registry.example.org'

/** The next version adds a column to every table, as in packages/database/test/next-version.ts. */
function addMigration(code: string): void {
  const file = join(code, 'node_modules/rollcall/node_modules/@rollcall/database/lib/migrations/index.js')
  const added = `MIGRATIONS['9999-next-version'] = { version: '${NEXT}', phase: 'expand', async up(db) {
  const { sql } = await import('kysely')
  const { rows } = await sql\`select quote_ident(relname) as name from pg_class where relnamespace = 'public'::regnamespace
    and relkind = 'r' and not starts_with(relname, 'rollcall_') and not exists (select from pg_inherits where inhrelid = pg_class.oid)
    order by relname\`.execute(db)
  for (const { name } of rows)
    await sql\`alter table \${sql.raw(name)} add column next_version text not null default 'new'\`.execute(db)
} }
`
  appendFileSync(file, added)
}

async function check(): Promise<void> {
  const debian = join(folder, 'machine')
  const packed = writeDebianPackage(folder, version)
  const next = writeDebianPackage(folder, NEXT, addMigration)
  assert(packed !== null && next !== null)
  say('the packages of two versions are made')
  makeDebian(debian)
  installIn(debian, INSTALLED)
  copyFileSync(packed, join(debian, 'root/rollcall.deb'))
  copyFileSync(next, join(debian, 'root/rollcall-next.deb'))
  const machine = await startMachine(debian).catch((error: Error) => void say(`skipped: ${error.message}`))
  if (machine === undefined) return
  say('the machine runs')
  try {
    install(machine)
    await setUp(machine)
    const search = askRegistry(machine, NAME)
    say('a signed search of another system is answered through nginx')
    certificates(machine, search)
    copy(machine)
    useUnits(machine)
    restore(machine, search)
    upgrade(machine, search)
    rotate(machine, search)
    purge(machine)
    say('everything is as docs/small-registry.md says')
  } finally {
    await machine.stop()
  }
}

/** The three lines of the page. */
const [INSTALL = '', SETUP = '', DOCTOR = ''] = blockWith('rollcall doctor')
  .replace(/\.\/rollcall_\S+\.deb/, './rollcall.deb')
  .split('\n')

/** Installs the package without a network: its dependencies are installed already. */
function install({ run, try: attempt }: Machine): void {
  run(`cd /root && ${INSTALL}`)
  assert.equal(run('rollcall --version').trim(), version)
  const writable = 'find /usr/lib/rollcall /usr/bin/rollcall /lib/systemd/system/rollcall* ! -type l'
  assert.equal(run(`${writable} \\( ! -user root -o ! -group root -o -perm /022 \\)`), '')
  for (const above of ['/', '/usr', '/usr/lib', '/usr/bin', '/etc', '/etc/rollcall', '/var/lib', '/var/backups', '/run']) {
    assert.match(run(`stat --format '%U %a' ${above}`), /^root 755\n$/, above)
  }
  assert.match(run('stat --format "%U %G %a" /var/lib/rollcall /var/backups/rollcall'), /^(?:rollcall rollcall 700\n){2}$/)
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

/** Runs setup with an authority of its own: first with answers at a terminal, then with those of the page in a file. */
async function setUp(machine: Machine): Promise<void> {
  const { run, try: attempt } = machine
  run(`printf '127.0.0.1 %s\n' ${NAME} vault.example.org log.example.org >> /etc/hosts`)
  run(`runuser -u postgres -- psql -qc "alter system set log_statement = 'all'" -c 'select pg_reload_conf()'`)
  run(`cd /root && openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout ministry.key -out /etc/ssl/ministry.pem \
    -days 30 -subj '/CN=Authority of the ministry' -addext 'keyUsage=critical,keyCertSign' 2> /dev/null`)
  run('cat > /root/answers.yaml', blockWith('certificate: csr'))

  const files = 'find /etc /run/rollcall /var/lib/rollcall -type f -newer /root/answers.yaml ! -name .updated'
  const before = attempt(files).said
  const dry = run('rollcall setup --answers /root/answers.yaml --dry-run')
  assert.match(dry, /make a master key in \/etc\/rollcall\/master-key\n[\s\S]*A dry run: nothing is changed/)
  assert.equal(attempt(files).said, before)

  const first = type(machine, SETUP, [NAME, '', '', '', 'csr', '/etc/ssl/ministry.pem', '', '', 'amina'])
  assert.match(first.said, /Not done yet: send \/etc\/rollcall\/tls\.csr to your authority/)
  assert.equal(first.code, 1)
  run(SIGN)
  run(
    `systemd-run --quiet --unit log /usr/lib/rollcall/current/bin/node -e "net.createServer((one) => one.resume()).listen(601)"`,
  )
  const second = run('rollcall setup --answers /root/answers.yaml')
  assert.match(
    second,
    /To do:\n {2}write \/etc\/rollcall\/answers\.json\n[\s\S]* {2}write \/etc\/nginx\/conf\.d\/rollcall\.conf\n {2}run nginx -t\n/,
  )
  assert.match(second, /\/ready answers through nginx/)
  assert.match(second, /http:\/\/127\.0\.0\.1:8081\/#\/sign-in\//)
  assert.match(second, /^1\. |Next:\n {2}1\. Copy \/etc\/rollcall\/master-key/m)
  assert.match(second, /Let copies@vault\.example\.org:\. accept this key[^\n]*\n +ssh-ed25519 /)
  assert.match(run('rollcall setup --answers /root/answers.yaml'), /Nothing differs: nothing is to be done/)
  checkSecrets(run, attempt)
  say('setup: a registry answers over HTTPS through nginx, and a second run changes nothing')
}

/** The secrets are in files of root alone, and nowhere else. */
function checkSecrets(run: Machine['run'], attempt: Machine['try']): void {
  const files = ['database-url', 'owner-database-url', 'master-key', 'tls.key'].map((name) => `/etc/rollcall/${name}`)
  assert.match(run(`stat --format '%U %a' ${files.join(' ')}`), /^(?:root 600\n){4}$/)
  for (const path of files.slice(0, 3)) {
    const secret = run(`sed -n '1{s#.*:\\([^@]*\\)@.*#\\1#;p}' ${path}`).trim()
    assert(secret.length >= 44, path)
    const places = '/var/log /etc/nginx /etc/systemd /run /var/lib/rollcall /usr/lib/rollcall/package/VERSION'
    const found = attempt(`grep -rlsF -f - ${places} --exclude-dir=credentials`, `${secret}\n`).said
    assert.equal(found, '', path)
    // A command that is running: no list of processes, and no environment, has the secret.
    const seen = `rollcall audit verify > /dev/null & sleep 1; cat /proc/[0-9]*/cmdline /proc/[0-9]*/environ 2> /dev/null | tr '\\0' '\\n' > /root/seen; wait`
    run(seen)
    assert.equal(attempt('grep -cF -f - /root/seen', `${secret}\n`).said, '0\n', path)
  }
  assert.equal(run('ls -A /run/rollcall; stat --format "%U %a" /run/rollcall'), 'root 711\n')
  // The service's user cannot replace files that root leaves for it.
  assert.match(run('stat --format "%U %a" /run/rollcall /etc/rollcall /usr/lib/rollcall'), /^root 711\nroot 755\nroot 755\n$/)
}

/** Each way to a certificate, and back to the first one. */
function certificates(machine: Machine, search: Search): void {
  renew(machine, NAME)
  say('a new certificate is served without a restart')
  certify(machine, NAME)
  say('certbot got a certificate from an authority, and its renewal is served')
  machine.run('rollcall setup --answers /root/answers.yaml')
  search.ask()
}

/** Copies on another machine, which is a user of this one. */
function copy({ run }: Machine): void {
  run(blockWith('adduser'))
  const key = run('cat /var/lib/rollcall/.ssh/id_ed25519.pub').trim()
  const line = blockWith('rrsync').replace(/ssh-ed25519 AAAA.*/, key)
  run('install -d -m 0700 -o copies -g copies ~copies/.ssh && cat > ~copies/.ssh/authorized_keys', `${line}\n`)
  run('systemctl start ssh rollcall-backup && systemctl start rollcall-copy')
  assert.match(run('ls ~copies/rollcall'), /^\d{4}-\d\d-\d\d\.backup\nanswers\.json\njournal\n$/)
  say('backups, the journal and the answers are copied to another machine')
}

/** The services that timers start: each as its unit says. */
function useUnits({ run, try: attempt }: Machine): void {
  run('systemctl start rollcall-backup rollcall-prune')
  assert.match(run('ls /var/backups/rollcall'), /^\d{4}-\d\d-\d\d\.backup\n/)
  const { said, code } = attempt('systemctl start rollcall-doctor; journalctl --unit rollcall-doctor --output cat')
  assert.equal(code, 0, said)
  assert.match(said, /backup_age +ok +the last backup is 0 hours old/)
  run(DOCTOR)
  const timers = run('systemctl list-timers --all --no-legend')
  for (const name of ['backup', 'prune', 'doctor']) assert(timers.includes(`rollcall-${name}.timer`), name)
  // A node that was taken over reads no secret, and nothing of a command's process, which has the same user.
  const node = run('systemctl show --property MainPID --value rollcall@8080').trim()
  const [user = '', group = ''] = run('id --user rollcall; id --group rollcall').split('\n')
  const taken = `nsenter --target ${node} --user --setuid ${user} --setgid ${group}`
  assert.equal(run(`${taken} id --user --name`), 'rollcall\n')
  for (const path of ['/etc/rollcall/owner-database-url', '/etc/rollcall/master-key'])
    assert.notEqual(attempt(`${taken} cat ${path}`).code, 0, path)
  const other = `rollcall audit verify > /dev/null &
    until pid=$(pgrep --newest --euid rollcall --full 'audit verify'); do kill -0 $!; sleep 0.05; done
    ${taken} cat /proc/$pid/environ > /root/seen 2>&1 || true; wait; cat /root/seen`
  assert.match(run(other), /Permission denied/)
  say('the units of the timers run: backup, prune, doctor')
}

/** The machine is lost. Another one has the package, the master key, the certificate, and what was copied away. */
function restore({ run }: Machine, search: Search): void {
  run('cp --archive /etc/rollcall/master-key /etc/rollcall/tls.pem /etc/rollcall/tls.key /root')
  run('ROLLCALL_PURGE=data apt-get purge --yes rollcall && runuser -u postgres -- dropdb --force rollcall')
  run('runuser -u postgres -- dropuser rollcall_owner && runuser -u postgres -- dropuser rollcall_application')
  run('nginx -t && systemctl reload nginx')
  run(`cd /root && ${INSTALL} && cp --archive master-key tls.pem tls.key /etc/rollcall`)
  run('cd ~copies/rollcall && cp journal /var/lib/rollcall && cp answers.json /etc/rollcall && cp *.backup /var/backups/rollcall')
  const [backup = ''] = run('ls /var/backups/rollcall').split('\n')
  const said = run(blockWith('rollcall restore release').replace(/[\d-]+\.backup/, backup))
  assert.match(said, /run \/usr\/bin\/rollcall restore \/var\/backups\/rollcall\/\S+/)
  say('the machine was lost, and its copies are restored on another one')
  search.ask()
}

/** Upgrades, goes back to the former version, and upgrades again, while searches are sent. */
function upgrade({ run, try: attempt }: Machine, search: Search): void {
  run('apt-get install --yes --no-install-recommends /root/rollcall-next.deb')
  // Nothing has changed but the files.
  assert.equal(run('rollcall --version').trim(), version)
  search.ask()
  const ready = `NODE_EXTRA_CA_CERTS=/etc/ssl/ministry.pem /usr/lib/rollcall/current/bin/node /root/load.mjs`
  run('cat > /root/load.mjs', LOAD)
  for (const [line, now, port] of [
    ['rollcall upgrade', NEXT, 8082],
    ['rollcall upgrade --back', version, 8080],
    ['rollcall upgrade', NEXT, 8082],
  ] as const) {
    run(`rm -f /root/stop /root/lost; ${ready} > /root/asked 2>&1 &
      (while [ ! -e /root/stop ]; do (${search.line}) > /dev/null 2>> /root/lost || echo lost >> /root/lost; done) > /dev/null 2>&1 &
      sleep 2`)
    const { code, said } = attempt(line)
    run('touch /root/stop; while ! grep -q answered /root/asked; do sleep 0.2; done')
    assert.equal(code, 0, said)
    const asked = JSON.parse(run('cat /root/asked')) as { answered: number; failed: readonly string[] }
    assert.deepEqual([asked.failed, run('cat /root/lost')], [[], ''])
    assert(asked.answered > 20, `${asked.answered} answers`)
    assert.equal(run('rollcall --version').trim(), now)
    const units = run('systemctl is-active rollcall@8080 rollcall@8082 || true')
    assert.equal(units, port === 8080 ? 'active\ninactive\n' : 'inactive\nactive\n')
    search.ask()
    say(`${line}: version ${now} is in use; ${asked.answered} requests meanwhile, none failed`)
  }
  assert.match(run('rollcall upgrade'), /nothing is to be done/)
  assert.match(run('ls /var/backups/rollcall'), /^before-999\.0\.0-\d+T\d+Z\.backup$/m)
}

/** Asks one request after the other, each over a connection of its own, until there is a file. */
const LOAD = `
import { existsSync } from 'node:fs'
import { request } from 'node:https'
const ask = () => new Promise((resolve) => {
  const asked = request('https://${NAME}/.well-known/jwks.json', { agent: false })
  asked.on('response', (answer) => { answer.resume(); answer.on('end', () => resolve(String(answer.statusCode))) })
  asked.on('error', ({ message }) => resolve(message))
  asked.end()
})
let answered = 0
const failed = []
while (!existsSync('/root/stop')) {
  const said = await ask()
  if (said === '200') answered += 1
  else failed.push(said)
}
console.log(JSON.stringify({ answered, failed }))
`

/** The new master key is in a file of root, as the earlier one is. */
function rotate({ run }: Machine, search: Search): void {
  assert.match(run(blockWith('keys rotate-master')), /values are encrypted with the new master key, version 2/)
  assert.match(run('stat --format "%U %a" /etc/rollcall/master-key*'), /^(?:root 600\n){2}$/)
  assert.match(run('rollcall keys rotate-master 2>&1 || true'), /ROLLCALL_NEW_MASTER_KEY is not set/)
  search.ask()
  say('the master key is another one')
}

/** Data and keys stay unless they are named. */
function purge({ run, try: attempt }: Machine): void {
  run('touch /etc/rollcall/master-key /var/backups/rollcall/one')
  run('apt-get purge --yes rollcall')
  run('test -e /etc/rollcall/master-key -a -e /var/backups/rollcall/one -a -d /var/lib/rollcall')
  assert.equal(attempt('test -e /usr/lib/rollcall').code, 1)
  run('apt-get install --yes --no-install-recommends /root/rollcall.deb && ROLLCALL_PURGE=data apt-get purge --yes rollcall')
  for (const gone of ['/etc/rollcall', '/var/backups/rollcall', '/var/lib/rollcall', '/usr/bin/rollcall'])
    assert.equal(attempt(`test -e ${gone}`).code, 1, gone)
  say('purged: data and keys stay unless ROLLCALL_PURGE=data')
}

try {
  await check()
} finally {
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
}
