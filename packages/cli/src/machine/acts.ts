/** Carries out the acts of a `SetupPlan`, as root. */
import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { closeSync, fchmodSync, fsyncSync, openSync, renameSync, rmSync, writeSync } from 'node:fs'
import { CommandError } from '../failure.ts'
import { runAsSuperuser } from './facts.ts'
import { SECRET_FILES } from './places.ts'
import { APPLICATION_ROLE, DATABASE_NAME, OWNER_ROLE, type PlannedAct, plannedActText } from './plan.ts'
import { scramVerifier } from './scram.ts'

/** Does an act of the plan. @throws CommandError a program or PostgreSQL refused; the next `rollcall setup` does what is left */
export function doPlannedAct(act: PlannedAct): void {
  if (act.act === 'write') replaceFile(act.path, act.text, 0o644)
  else if (act.act === 'database') makeRolesAndDatabase(act)
  else if (act.act === 'master_key') replaceFile(SECRET_FILES.master_key, `${randomBytes(32).toString('base64')}\n`, 0o600)
  else runProgramQuietly(act.words)
}

/** Replaces a file in one step: nobody reads half of it. The folder must be one in which only root writes. */
export function replaceFile(path: string, text: string, mode: number): void {
  const part = `${path}.part`
  rmSync(part, { force: true })
  const file = openSync(part, 'wx', mode)
  try {
    // `fchmod` sets the mode, whatever the umask is.
    fchmodSync(file, mode)
    writeSync(file, text)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
  renameSync(part, path)
}

/** Runs a program and hides its output: `operator add` prints a token. A failure quotes its last error lines. */
export function runProgramQuietly(words: readonly string[]): void {
  const [program = '', ...others] = words
  const { status, stderr, error } = spawnSync(program, others, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
  if (status === 0) return
  const reason = error?.message ?? stderr.trim().split('\n').slice(-3).join('\n')
  throw new CommandError(`${words.join(' ')} failed: ${reason}`)
}

function makeRolesAndDatabase({ port, roles, create }: Extract<PlannedAct, { act: 'database' }>): void {
  const passwords = { [OWNER_ROLE]: makePassword(), [APPLICATION_ROLE]: makePassword() }
  const statements = Object.entries(passwords).map(([role, secret]) => {
    return `${roles.includes(role) ? 'alter' : 'create'} role ${role} login password '${scramVerifier(secret)}';`
  })
  statements.push(`grant ${APPLICATION_ROLE} to ${OWNER_ROLE};`)
  if (create) statements.push(`create database ${DATABASE_NAME} owner ${OWNER_ROLE} encoding 'UTF8' template template0;`)
  try {
    runAsSuperuser(statements.join('\n'))
  } catch {
    throw new CommandError(`PostgreSQL refused to ${plannedActText({ act: 'database', port, roles, create })}; its log says why`)
  }
  const address = (role: string): string => `postgres://${role}:${passwords[role]}@127.0.0.1:${port}/${DATABASE_NAME}\n`
  replaceFile(SECRET_FILES.owner, address(OWNER_ROLE), 0o600)
  replaceFile(SECRET_FILES.database, address(APPLICATION_ROLE), 0o600)
}

const makePassword = (): string => randomBytes(24).toString('hex')
