/** Reads the configuration and opens the database for a command. */
import { lstat } from 'node:fs/promises'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { type BaseActDeps, NO_APPROVAL_NEEDED } from '@rollcall/admin/act'
import { refuseToAddToDemo } from '@rollcall/admin/demo/demo-database'
import { checkSchema, type Database } from '@rollcall/database/database'
import { clusterPaths as embeddedLayout } from '@rollcall/database/embedded/files'
import type { Vault } from '@rollcall/keys/vault'
import { type Config, readConfig } from '@rollcall/settings/config'
import { openAuditLog, openStorage, openVault } from '@rollcall/settings/storage'
import { CommandError } from './failure.ts'

/** Reads the configuration from the environment. @throws CommandError, which names the variable */
export function readConfiguration(): Config {
  try {
    return readConfig(process.env)
  } catch (error) {
    throw new CommandError(error instanceof Error ? error.message : String(error))
  }
}

/** The paths of the embedded database, which need not exist yet. */
export const embeddedDatabasePaths = ({ dataDirectory }: Config) => embeddedLayout(join(dataDirectory, 'postgres'))

/**
 * True when DATABASE_URL is set, whether or not that database answers, or when an embedded database exists; none is made here.
 */
export async function hasUrlOrEmbeddedDatabase(config: Config): Promise<boolean> {
  if (config.databaseUrl !== undefined) return true
  return lstat(embeddedDatabasePaths(config).home).then(
    () => true,
    () => false,
  )
}

/** Dependencies of admin functions. */
export interface CommandDeps extends BaseActDeps {
  /** The database as the application role. */
  readonly db: Database
  /** The database as the owner, for acts that only the owner may do; it connects when it is first used. */
  readonly owner: Database
  readonly config: Config
  readonly limits: Config['limits']
  /** Opens the vault when a function needs it: most functions need no master key. */
  readonly vault: () => Promise<Vault>
}

/**
 * Opens the database (that of a running server, if there is one), does work with it, and closes it. It makes no database and
 * migrates no tables.
 * @throws CommandError there is no database
 * @throws StoreRefusal the tables are older than this version's, or newer than the next version's
 * @throws AdminRefusal the operator token of the environment is not valid
 */
export async function withDatabase<Result>(work: (deps: CommandDeps) => Promise<Result>): Promise<Result> {
  const config = readConfiguration()
  if (!(await hasUrlOrEmbeddedDatabase(config))) {
    throw new CommandError(
      `there is no database in ${config.dataDirectory} yet; set ROLLCALL_DATA or DATABASE_URL, or make one with rollcall migrate`,
    )
  }
  return withPossiblyEmptyDatabase(config, async (deps) => {
    await checkSchema(deps.db)
    return work({ ...deps, ...(await findCallerAndApprovals(config, deps.db)) })
  })
}

/**
 * Like `withDatabase`, for acts that add an operator's own registries, participants or records.
 * @throws AdminRefusal the database is that of a demo, and ROLLCALL_DEMO_WRITES is not 1
 */
export const withNonDemoDatabase = <Result>(work: (deps: CommandDeps) => Promise<Result>): Promise<Result> =>
  withDatabase(async (deps) => {
    if (process.env.ROLLCALL_DEMO_WRITES !== '1') await refuseToAddToDemo(deps.db)
    return work(deps)
  })

/**
 * Like `withDatabase`, but the database may have no tables yet, and an embedded one is made. The caller is always the
 * user of the shell, and no act waits for a second operator.
 */
export async function withPossiblyEmptyDatabase<Result>(
  config: Config,
  work: (deps: CommandDeps) => Promise<Result>,
): Promise<Result> {
  const storage = await openStorage(config)
  const auditLog = openAuditLog(config, storage.db)
  try {
    return await work({
      caller: { kind: 'shell', user: shellUser() },
      approvals: NO_APPROVAL_NEEDED,
      db: storage.db,
      owner: storage.owner,
      config,
      limits: config.limits,
      vault: () => openVault(config, storage.db),
      auditLog,
    })
  } finally {
    await auditLog.close()
    await storage.close()
  }
}

/**
 * Finds who calls, and whether acts need a second operator.
 * @throws AdminRefusal the token in ROLLCALL_OPERATOR_TOKEN is not valid
 */
async function findCallerAndApprovals(
  { twoPerson, limits }: Config,
  db: Database,
): Promise<Pick<CommandDeps, 'caller' | 'approvals'>> {
  const token = process.env.ROLLCALL_OPERATOR_TOKEN ?? ''
  const shell = { kind: 'shell', user: shellUser() } as const
  if (!twoPerson && token === '') return { caller: shell, approvals: NO_APPROVAL_NEEDED }
  const [{ createApprovalService }, { requireOperatorOfToken }] = await Promise.all([
    import('@rollcall/admin/approvals/approval'),
    import('@rollcall/admin/approvals/proposals'),
  ])
  const caller = token === '' ? shell : { kind: 'operator' as const, operator: await requireOperatorOfToken({ db }, token) }
  return { caller, approvals: twoPerson ? createApprovalService({ limits }) : NO_APPROVAL_NEEDED }
}

/**
 * The name of the user who gave the command. /usr/bin/rollcall sets ROLLCALL_SHELL_USER, because it runs commands as
 * the service's user.
 */
function shellUser(): string {
  const named = process.env.ROLLCALL_SHELL_USER ?? ''
  if (named !== '') return named
  try {
    return userInfo().username
  } catch {
    // The operating system has no entry for this user.
    return `uid ${process.getuid?.() ?? 'unknown'}`
  }
}

/** Calls an admin function with the dependencies that `withDatabase` makes, and no others. */
export const callWithDatabase = <Input, Result>(
  adminFunction: (deps: CommandDeps, input: Input) => Promise<Result>,
  input: Input,
): Promise<Result> => withDatabase((deps) => adminFunction(deps, input))

/** Like `callWithDatabase`, for an operator's own data: refuses a demo's database unless ROLLCALL_DEMO_WRITES is 1. */
export const callWithNonDemoDatabase = <Input, Result>(
  adminFunction: (deps: CommandDeps, input: Input) => Promise<Result>,
  input: Input,
): Promise<Result> => withNonDemoDatabase((deps) => adminFunction(deps, input))
