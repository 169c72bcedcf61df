import { expect, test } from 'vitest'
import { readAnswers } from './answers.ts'
import { setupFiles } from './files.ts'
import { SECRET_FILES } from './places.ts'
import { makeSetupPlan, plannedActText, type SetupFacts } from './plan.ts'

const SITE =
  '    server 127.0.0.1:8080 max_fails=1;\n    server_name old; # CHANGE\n    ssl_certificate a;\n    ssl_certificate_key b;\n'
const answers = readAnswers({ name: 'registry.example.org', witness: 'syslog+tcp://log.example.org:601' })
const csr = readAnswers({ name: 'registry.example.org', certificate: 'csr' })

const fresh: SetupFacts = {
  files: new Map(),
  site: SITE,
  secrets: new Set(),
  database: { port: 5433, roles: [], exists: false, has_keys: false },
  certificate: null,
  has_certificate: true,
  has_request: false,
  units: new Set(),
  has_journal: false,
  has_copy_key: false,
  port: 8080,
  registries: [],
  operators: [],
}
const done: SetupFacts = {
  ...fresh,
  files: setupFiles(answers, SITE),
  secrets: new Set(Object.values(SECRET_FILES)),
  database: { port: 5433, roles: ['rollcall_owner', 'rollcall_application'], exists: true, has_keys: true },
  units: new Set([
    'rollcall@8080',
    'rollcall-prune.timer',
    'rollcall-backup.timer',
    'rollcall-doctor.timer',
    'rollcall-certificate.path',
  ]),
  registries: ['civil'],
  operators: ['root'],
}
const textsOf = (...words: Parameters<typeof makeSetupPlan>): readonly string[] =>
  makeSetupPlan(...words).acts.map(plannedActText)

test('a new machine gets everything, and nginx last', () => {
  expect(textsOf(answers, fresh)).toEqual([
    'write /etc/rollcall/answers.json',
    'write /etc/rollcall/setup.env',
    'write /etc/systemd/system/rollcall-certificate.path',
    'write /etc/systemd/system/rollcall-certificate.service',
    'create the database rollcall in the PostgreSQL on port 5433 to the roles rollcall_owner and rollcall_application; write /etc/rollcall/owner-database-url and /etc/rollcall/database-url',
    'make a master key in /etc/rollcall/master-key',
    'run systemctl daemon-reload',
    'run /usr/bin/rollcall migrate',
    'run systemctl enable --now rollcall@8080 rollcall-prune.timer rollcall-backup.timer rollcall-doctor.timer rollcall-certificate.path',
    'run /usr/bin/rollcall registry add civil --namespace civil --sender-id civil.registry.example.org',
    'run /usr/bin/rollcall operator add root --role own',
    'write /etc/nginx/conf.d/rollcall.conf',
    'run nginx -t',
    'run systemctl reload-or-restart nginx',
  ])
})

test('a second run does what differs', () => {
  expect(makeSetupPlan(answers, done)).toEqual({ acts: [], waits: null })
  const changed = readAnswers({ ...answers, witness: 'later' })
  expect(textsOf(changed, done)).toEqual([
    'write /etc/rollcall/answers.json',
    'write /etc/rollcall/setup.env',
    'run systemctl daemon-reload',
    'run systemctl restart rollcall@8080',
  ])
  expect(setupFiles(changed, SITE).get('/etc/rollcall/setup.env')).not.toContain('WITNESS')
})

test('copies to another machine have a key of their own, and a timer', () => {
  const copying = readAnswers({ ...answers, copies: 'copies@vault.example.org:rollcall' })
  expect(setupFiles(copying, SITE).get('/etc/rollcall/setup.env')).toContain('\nCOPIES_TO=copies@vault.example.org:rollcall\n')
  const texts = textsOf(copying, { ...done, files: setupFiles(copying, SITE) })
  expect(texts).toEqual([
    'run install -d -m 0700 -o rollcall -g rollcall /var/lib/rollcall/.ssh',
    'run runuser --user rollcall -- ssh-keygen -q -t ed25519 -N  -C rollcall -f /var/lib/rollcall/.ssh/id_ed25519',
    'run systemctl enable --now rollcall-copy.timer',
  ])
})

test('nginx reads a new certificate wherever it comes from, and a key that comes after it', () => {
  const certbot = readAnswers({ name: 'registry.example.org', certificate: 'certbot', contact: 'it@example.org' })
  for (const given of [answers, csr, certbot]) {
    const unit = setupFiles(given, SITE).get('/etc/systemd/system/rollcall-certificate.path')
    expect(unit).toContain(`\nPathChanged=${given.certificate_file}\nPathChanged=${given.key_file}\n`)
    // The links of certbot are seen in their folder.
    const hasFolder = unit?.includes('\nPathChanged=/etc/letsencrypt/live/registry.example.org\n')
    expect(hasFolder).toBe(given === certbot)
  }
})

test('the site of nginx gets the names, and keeps the node', () => {
  expect(setupFiles(answers, SITE).get('/etc/nginx/conf.d/rollcall.conf')).toBe(
    '    server 127.0.0.1:8080 max_fails=1;\n    server_name registry.example.org;\n' +
      '    ssl_certificate /etc/ssl/certs/registry.pem;\n    ssl_certificate_key /etc/ssl/private/registry.key;\n',
  )
})

test('nginx gets the node in use, which the package has made anew when it is installed again', () => {
  const site = setupFiles(answers, SITE.replace('8080', '8082')).get('/etc/nginx/conf.d/rollcall.conf') ?? ''
  const left: SetupFacts = { ...done, site, files: new Map([...done.files, ['/etc/nginx/conf.d/rollcall.conf', site]]) }
  expect(makeSetupPlan(answers, left).acts).toEqual([
    {
      act: 'write',
      path: '/etc/nginx/conf.d/rollcall.conf',
      text: setupFiles(answers, SITE).get('/etc/nginx/conf.d/rollcall.conf'),
    },
    { act: 'run', words: ['nginx', '-t'] },
    { act: 'run', words: ['systemctl', 'reload-or-restart', 'nginx'] },
  ])
})

test('a lost address of the database is made anew, and a lost master key never is', () => {
  const lost = (path: string): SetupFacts => ({ ...done, secrets: new Set([...done.secrets].filter((one) => one !== path)) })
  expect(makeSetupPlan(answers, lost(SECRET_FILES.database)).acts).toEqual([
    { act: 'database', port: 5433, roles: done.database.roles, create: false },
  ])
  expect(() => makeSetupPlan(answers, lost(SECRET_FILES.master_key))).toThrow(
    'the database has keys, and /etc/rollcall/master-key is not there: copy the master key of this database to that file; a new one opens nothing',
  )
  expect(() => makeSetupPlan(answers, fresh, '/var/backups/rollcall/a.backup')).toThrow(
    '/etc/rollcall/master-key is not there: copy the master key of the backup to that file',
  )
})

test('a restore takes the place of the migration, and begins a new journal', () => {
  const lost: SetupFacts = {
    ...done,
    units: new Set(),
    database: { ...done.database, exists: false, has_keys: false },
    has_journal: true,
  }
  const texts = textsOf(answers, lost, '/var/backups/rollcall/a.backup')
  expect(texts).toContain('run /usr/bin/rollcall restore /var/backups/rollcall/a.backup --journal /var/lib/rollcall/journal')
  expect(texts).toContain(
    'run runuser --user rollcall -- mv --no-clobber /var/lib/rollcall/journal /var/lib/rollcall/journal-before-a.backup',
  )
  expect(texts.filter((text) => /migrate|registry add|operator add/.test(text))).toEqual([])
})

test('without a certificate nginx waits: for the authority, for certbot, or for its files', () => {
  const without: SetupFacts = { ...done, certificate: 'it is not there', has_certificate: false }
  const asked = makeSetupPlan(csr, { ...without, files: setupFiles(csr, SITE) })
  expect(asked.acts.map(plannedActText).at(-1)).toContain(
    'run openssl req -new -key /etc/rollcall/tls.key -subj /CN=registry.example.org',
  )
  expect(asked.waits).toMatch(/^send \/etc\/rollcall\/tls\.csr to your authority/)
  expect(makeSetupPlan(csr, { ...without, files: setupFiles(csr, SITE), has_request: true }).acts).toEqual([])
  expect(makeSetupPlan(answers, without)).toEqual({
    acts: [],
    waits: 'the certificate: it is not there; then run rollcall setup again',
  })
  const certbot = readAnswers({ name: 'registry.example.org', certificate: 'certbot', contact: 'it@example.org' })
  const certified = [
    'run install -d -m 0755 /var/lib/rollcall-acme',
    'run systemctl reload-or-restart nginx',
    expect.stringMatching(/^run certbot certonly --non-interactive .* --domain registry\.example\.org$/),
  ]
  expect(textsOf(certbot, { ...without, files: setupFiles(certbot, SITE) })).toEqual(certified)
  // The unit that waits for a new certificate waits for the files of certbot.
  expect(textsOf(certbot, without)).toEqual([
    'write /etc/rollcall/answers.json',
    'write /etc/rollcall/setup.env',
    'write /etc/nginx/conf.d/rollcall-acme.conf',
    'write /etc/systemd/system/rollcall-certificate.path',
    'run systemctl daemon-reload',
    'run systemctl restart rollcall-certificate.path',
    'run systemctl restart rollcall@8080',
    ...certified,
  ])
})
