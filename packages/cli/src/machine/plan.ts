/** Makes the plan of `rollcall setup` from answers and the state of the machine. A later plan has only what is still to do. */
import { basename, dirname } from 'node:path'
import type { Answers } from './answers.ts'
import { CERTBOT_PROOF_FOLDER, CERTIFICATE_PATH_UNIT, nginxSiteWithPort, SETUP_SETTINGS_FILE, setupFiles } from './files.ts'
import { COPY_KEY_FILE, JOURNAL_FILE, NGINX_SITE, ROLLCALL_COMMAND_PATH, SECRET_FILES, SETTINGS_FOLDER } from './places.ts'

export interface SetupFacts {
  /** The texts, by path, of the files of setup that exist. */
  readonly files: ReadonlyMap<string, string>
  /** The text of the existing nginx site, or else of the package's example. */
  readonly site: string
  /** The paths of the secret files that exist. */
  readonly secrets: ReadonlySet<string>
  readonly database: {
    readonly port: number
    readonly roles: readonly string[]
    readonly exists: boolean
    /** True if the table `own_key` has rows, which a master key encrypts. */
    readonly has_keys: boolean
  }
  /** The first fault of the certificate; null when it has none. */
  readonly certificate: string | null
  /** True if the certificate file that the answers name exists. */
  readonly has_certificate: boolean
  /** True if a certificate was requested: the file of the request exists. */
  readonly has_request: boolean
  /** The systemd units of setup that are enabled and active. */
  readonly units: ReadonlySet<string>
  /** True if the service has a journal. */
  readonly has_journal: boolean
  readonly has_copy_key: boolean
  /** The port of the node in use. */
  readonly port: number
  readonly registries: readonly string[]
  readonly operators: readonly string[]
}

export const [OWNER_ROLE, APPLICATION_ROLE] = ['rollcall_owner', 'rollcall_application']
export const DATABASE_NAME = 'rollcall'

/** A step of `rollcall setup`; it is not an act of the admin functions. */
export type PlannedAct =
  | { readonly act: 'write'; readonly path: string; readonly text: string }
  /**
   * Makes the database and its two roles where they are missing, gives both roles new passwords, and writes the database address
   * of each role, with its password, into SECRET_FILES.
   */
  | { readonly act: 'database'; readonly port: number; readonly roles: readonly string[]; readonly create: boolean }
  | { readonly act: 'master_key' }
  | { readonly act: 'run'; readonly words: readonly string[] }

export interface SetupPlan {
  readonly acts: readonly PlannedAct[]
  /** Why the setup is not complete after these acts, such as a step that the operator must do; null when it is complete. */
  readonly waits: string | null
}

/**
 * Makes the plan.
 * @param restore a backup to fill the new database
 * @throws Error the file of the master key is missing, and the database has keys or a backup is to be restored
 */
export function makeSetupPlan(answers: Answers, facts: SetupFacts, restore: string | null = null): SetupPlan {
  const { name, kind, namespace, sender_id, certificate, certificate_file, contact, copies, operator } = answers
  const { database, secrets, units, port } = facts
  const servable = facts.certificate === null
  const files = setupFiles(answers, nginxSiteWithPort(facts.site, port))
  const changedFiles = [...files].filter(([path, text]) => facts.files.get(path) !== text)
  const isChanged = (path: string): boolean => changedFiles.some(([one]) => one === path)
  const write = (paths: (path: string) => boolean): PlannedAct[] =>
    changedFiles.filter(([path]) => paths(path)).map(([path, text]) => ({ act: 'write', path, text }))
  const run = (...words: readonly string[]): PlannedAct => ({ act: 'run', words })

  const acts: PlannedAct[] = write((path) => path !== NGINX_SITE)
  if (!secrets.has(SECRET_FILES.database) || !secrets.has(SECRET_FILES.owner) || !database.exists) {
    acts.push({ act: 'database', port: database.port, roles: database.roles, create: !database.exists })
  }
  if (!secrets.has(SECRET_FILES.master_key)) {
    if (database.has_keys) {
      throw new Error(
        `the database has keys, and ${SECRET_FILES.master_key} is not there: copy the master key of this database to that file; a new one opens nothing`,
      )
    }
    if (restore !== null)
      throw new Error(`${SECRET_FILES.master_key} is not there: copy the master key of the backup to that file`)
    acts.push({ act: 'master_key' })
  }
  if (isChanged(SETUP_SETTINGS_FILE) || isChanged(`/etc/systemd/system/${CERTIFICATE_PATH_UNIT}`))
    acts.push(run('systemctl', 'daemon-reload'))
  // A running path unit is restarted, because it must now watch other certificate files.
  if (isChanged(`/etc/systemd/system/${CERTIFICATE_PATH_UNIT}`) && units.has(CERTIFICATE_PATH_UNIT))
    acts.push(run('systemctl', 'restart', CERTIFICATE_PATH_UNIT))
  const isNew = !units.has(`rollcall@${port}`)
  if (restore !== null) acts.push(...restoreCommands(restore, facts.has_journal).map((words) => run(...words)))
  else if (isNew) acts.push(run(ROLLCALL_COMMAND_PATH, 'migrate'))
  if (copies !== 'later' && !facts.has_copy_key) acts.push(...COPY_KEY_COMMANDS.map((words) => run(...words)))
  const wanted = [
    ...[`rollcall@${port}`, 'rollcall-prune.timer', 'rollcall-backup.timer', 'rollcall-doctor.timer', CERTIFICATE_PATH_UNIT],
    ...(copies === 'later' ? [] : ['rollcall-copy.timer']),
  ].filter((unit) => !units.has(unit))
  if (wanted.length > 0) acts.push(run('systemctl', 'enable', '--now', ...wanted))
  if (!isNew && isChanged(SETUP_SETTINGS_FILE)) acts.push(run('systemctl', 'restart', `rollcall@${port}`))
  if (restore === null && !facts.registries.includes(namespace)) {
    acts.push(run(ROLLCALL_COMMAND_PATH, 'registry', 'add', kind, '--namespace', namespace, '--sender-id', sender_id))
  }
  if (restore === null && !facts.operators.includes(operator))
    acts.push(run(ROLLCALL_COMMAND_PATH, 'operator', 'add', operator, '--role', 'own'))

  if (!servable && certificate === 'certbot') {
    acts.push(...certbotCommands(name, contact).map((words) => run(...words)))
    return { acts, waits: `certbot got no certificate: ${facts.certificate}` }
  }
  if (!servable && certificate === 'csr' && !facts.has_certificate) {
    if (!facts.has_request) acts.push(...certificateRequestCommands(name, answers.key_file).map((words) => run(...words)))
    const waits = `send ${SETTINGS_FOLDER}/tls.csr to your authority, write its answer with the certificates above it to ${certificate_file}, and run rollcall setup again`
    return { acts, waits }
  }
  if (!servable) return { acts, waits: `the certificate: ${facts.certificate}; then run rollcall setup again` }
  const site = write((path) => path === NGINX_SITE)
  if (site.length > 0) acts.push(...site, run('nginx', '-t'), run('systemctl', 'reload-or-restart', 'nginx'))
  return { acts, waits: null }
}

/** The commands that restore a backup. The database then begins a new journal: the former one is moved aside. */
const restoreCommands = (backup: string, has_journal: boolean): readonly (readonly string[])[] =>
  has_journal
    ? [
        [ROLLCALL_COMMAND_PATH, 'restore', backup, '--journal', JOURNAL_FILE],
        ['runuser', '--user', 'rollcall', '--', 'mv', '--no-clobber', JOURNAL_FILE, `${JOURNAL_FILE}-before-${basename(backup)}`],
      ]
    : [[ROLLCALL_COMMAND_PATH, 'restore', backup, '--without-journal', `rollcall setup found no ${JOURNAL_FILE}`]]

/** The commands that make the SSH key for copies. The key belongs to the user of the service, not to root. */
const COPY_KEY_COMMANDS: readonly (readonly string[])[] = [
  ['install', '-d', '-m', '0700', '-o', 'rollcall', '-g', 'rollcall', dirname(COPY_KEY_FILE)],
  ['runuser', '--user', 'rollcall', '--', 'ssh-keygen', '-q', '-t', 'ed25519', '-N', '', '-C', 'rollcall', '-f', COPY_KEY_FILE],
]

/** The commands that get a certificate with certbot. nginx serves the proofs that certbot writes. */
const certbotCommands = (name: string, contact: string): readonly (readonly string[])[] => [
  ['install', '-d', '-m', '0755', CERTBOT_PROOF_FOLDER],
  ['systemctl', 'reload-or-restart', 'nginx'],
  [
    ...['certbot', 'certonly', '--non-interactive', '--agree-tos', '--email', contact],
    ...['--webroot', '--webroot-path', CERTBOT_PROOF_FOLDER, '--domain', name],
  ],
]

/** The commands that make a key and a request for a certificate with OpenSSL. Only the request is sent away. */
const certificateRequestCommands = (name: string, key_file: string): readonly (readonly string[])[] => [
  ['openssl', 'genpkey', '-algorithm', 'EC', '-pkeyopt', 'ec_paramgen_curve:P-256', '-out', key_file],
  ['chmod', '0600', key_file],
  [
    ...['openssl', 'req', '-new', '-key', key_file, '-subj', `/CN=${name}`],
    ...['-addext', `subjectAltName=DNS:${name}`, '-out', `${SETTINGS_FOLDER}/tls.csr`],
  ],
]

/** Returns an act as a line of text for the operator, without secrets. */
export function plannedActText(act: PlannedAct): string {
  switch (act.act) {
    case 'write':
      return `write ${act.path}`
    case 'database':
      return `${act.create ? `create the database ${DATABASE_NAME} in` : 'give new passwords in'} the PostgreSQL on port ${act.port} to the roles ${OWNER_ROLE} and ${APPLICATION_ROLE}; write ${SECRET_FILES.owner} and ${SECRET_FILES.database}`
    case 'master_key':
      return `make a master key in ${SECRET_FILES.master_key}`
    case 'run':
      return `run ${act.words.join(' ')}`
  }
}
