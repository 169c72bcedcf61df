/** Finds what an account of MariaDB or MySQL may do beyond reading. Without such rights, no error of ours can harm a source. */

import { listEncryptionWeaknesses } from '../engine/encryption.ts'
import type { EngineReport } from '../engine/engine.ts'
import type { SourceFile } from '../engine/mapped-records.ts'
import type { MariadbSnapshot } from './connections.ts'

/** Privileges that neither write nor show other accounts. */
const READ_PRIVILEGES: ReadonlySet<string> = new Set(['USAGE', 'SELECT', 'SHOW VIEW', 'SHOW DATABASES'])

/** Privileges that are needed only to follow the binlog, with their names in MariaDB and MySQL. */
const BINLOG_PRIVILEGES: ReadonlySet<string> = new Set(['REPLICATION SLAVE', 'BINLOG MONITOR', 'REPLICATION CLIENT'])

/** Matches `GRANT privileges ON object TO account`; without an object the statement grants roles. */
const GRANT_STATEMENT_PATTERN =
  /^GRANT (.+?)(?: ON (?:(?:TABLE|FUNCTION|PROCEDURE|PACKAGE BODY|PACKAGE) )?((?:`(?:[^`]|``)*`|\*)\.(?:`(?:[^`]|``)*`|\*)|\S+))? TO ([`']?)(.+?)\3(?:[@ ]|$)/
/** Matches the name of a role in a statement. */
const ROLE_NAME_PATTERN = /[`'](?:[^`']|``|'')+[`'](?:@[`'][^`']*[`'])?/g
/** Matches the object of a grant on `test` or a database like it: a new MariaDB lets everybody write there. */
const TEST_DATABASE_PATTERN = /^`test(?:\\_%)?`\./

/** Returns a report on the database and the account. */
export async function readEngineReport(state: MariadbSnapshot, { ca, mirror }: SourceFile): Promise<EngineReport> {
  const texts = async (text: string): Promise<readonly string[]> =>
    (await state.run({ text, values: [] })).rows.map(([first]) => first ?? '')
  const [about = ''] = await texts(
    `select concat(if(version() like '%MariaDB%', 'MariaDB ', 'MySQL '), version(), ', database ', coalesce(database(), '-'), ', account ', current_user())`,
  )
  const definers = await texts(
    `select concat(routine_schema, '.', routine_name) from information_schema.routines
      where security_type = 'DEFINER' and routine_schema not in ('sys', 'mysql') order by 1 limit 1`,
  )
  const [account = ''] = await texts(`select substring_index(current_user(), '@', 1)`)
  const harmless = mirror?.follow === 'binlog' ? new Set([...READ_PRIVILEGES, ...BINLOG_PRIVILEGES]) : READ_PRIVILEGES
  const who = { account, definer: definers[0], harmless }
  const writes = (await readAllGrants(texts)).flatMap((grant) => findHarmfulRights(grant, who) ?? [])
  const [cipher] = (await state.run({ text: `show session status like 'Ssl_cipher'`, values: [] })).rows
  const [isLocal] = await texts(
    `select host like 'localhost%' or host like '127.%' or host like '::1%' from information_schema.processlist where id = connection_id()`,
  )
  const weak = listEncryptionWeaknesses({ isEncrypted: (cipher?.[1] ?? '') !== '', isLocal: isLocal === '1' }, ca)
  const [isReadOnly] = await texts('select @@global.read_only')
  if (isReadOnly !== '0') {
    const polled = mirror?.follow === 'poll' ? '; poll.overlap must exceed its lag' : ''
    weak.push(`it is read-only, as a replica is: answers are as old as what it has received${polled}`)
  }
  return { about, writes: [...new Set(writes)], weak }
}

/** Reads the grants of the account, of its roles and of PUBLIC. It sets each role meanwhile: only then are its grants shown. */
async function readAllGrants(texts: (text: string) => Promise<readonly string[]>): Promise<readonly string[]> {
  const [before] = await texts('select current_role()')
  const grants = [...(await texts('show grants'))]
  const roles = grants.flatMap((grant) => {
    const [, given = '', object] = GRANT_STATEMENT_PATTERN.exec(grant) ?? []
    return object === undefined ? (given.match(ROLE_NAME_PATTERN) ?? []) : []
  })
  for (const role of new Set(roles)) {
    await texts(`set role ${role}`)
    grants.push(...(await texts('show grants')))
  }
  if (roles.length > 0) await texts(`set role ${/^(?:|NONE|`.*)$/.test(before ?? '') ? before || 'none' : `\`${before}\``}`)
  // Servers without the role PUBLIC refuse this statement.
  const everybody = await texts('show grants for public').catch(() => [])
  return [...grants, ...everybody]
}

/** Finds the rights in a `GRANT` that allow more than reading, and names them in a sentence; null: there are none. */
function findHarmfulRights(
  grant: string,
  {
    account,
    definer,
    harmless,
  }: { readonly account: string; readonly definer: string | undefined; readonly harmless: ReadonlySet<string> },
): string | null {
  const [, given = '', object, , grantee = ''] = GRANT_STATEMENT_PATTERN.exec(grant) ?? []
  if (object === undefined || TEST_DATABASE_PATTERN.test(object)) return null
  const by = grantee === account ? '' : grantee === 'PUBLIC' ? ', as everybody' : `, by the role ${grantee}`
  const place = object.replaceAll('`', '')
  const privileges = given.replaceAll(/ \([^)]*\)/g, '').split(/, ?/)
  const more = privileges.filter((one) => !harmless.has(one) && (one !== 'EXECUTE' || definer !== undefined))
  if (/ WITH .*GRANT OPTION/.test(grant)) more.push('GRANT OPTION')
  if (more.length === 0) return null
  if (more.includes('FILE')) return `it may read and write files of the server (${more.join(', ')} on ${place})${by}`
  if (more.join() === 'EXECUTE') return `it may call ${definer}, which acts as its definer (EXECUTE on ${place})${by}`
  return `it has more than reading on ${place}: ${more.join(', ')}${by}`
}
