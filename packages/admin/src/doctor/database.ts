/** Doctor's checks of the database. */
import { isLoopback } from '@rollcall/base/shared/loopback'
import { countWithNoun } from '@rollcall/base/shared/message-words'
import { MOST_REPORT_AGE_MINUTES } from '@rollcall/database/journal-reports'
import { brokenResult, type Check, type DatabaseFacts, okResult, weakResult } from './finding.ts'

/** The oldest major version of PostgreSQL that is supported. */
const OLDEST_POSTGRESQL = 15
/** Seconds after which doctor warns of a waiting row of the event outbox, or of a copied registry that is behind its source. */
const LAG_WARNING_SECONDS = 60

export const DATABASE_CHECKS: readonly Check<DatabaseFacts>[] = [
  {
    check: 'database',
    judge({ embedded }) {
      if (!embedded) return okResult('PostgreSQL of DATABASE_URL answers')
      return weakResult(
        'the embedded PostgreSQL is in use: one machine, no replica; back it up, or set DATABASE_URL in production',
      )
    },
  },
  {
    check: 'two_person',
    judge({ twoPerson, operators }) {
      if (twoPerson) return okResult('acts that give access wait for a second operator')
      if (operators < 2) return null
      return weakResult(
        `${operators} operators may give access, and each of them alone: set ROLLCALL_TWO_PERSON=1 on servers and for commands (docs/approvals.md)`,
      )
    },
  },
  {
    check: 'second_operator',
    command: 'rollcall operator add <name> --role own',
    judge({ twoPerson, operators }) {
      if (!twoPerson) return null
      if (operators >= 2) return okResult(`${countWithNoun(operators, 'operator')} may decide about what waits`)
      return weakResult(
        `${countWithNoun(operators, 'operator')} may decide about what waits for a second one: without two nothing is approved; add one, with ROLLCALL_TWO_PERSON=0 for the command`,
      )
    },
  },
  {
    check: 'postgresql_version',
    judge({ settings: { version } }) {
      if (Number.parseInt(version, 10) >= OLDEST_POSTGRESQL) return okResult(`PostgreSQL ${version}`)
      return brokenResult(`PostgreSQL ${version}; ${OLDEST_POSTGRESQL} or newer is needed`)
    },
  },
  {
    check: 'encoding',
    judge({ settings: { encoding } }) {
      if (encoding === 'UTF8') return okResult('UTF8')
      return brokenResult(`${encoding}; names need UTF8: create the database with ENCODING 'UTF8' TEMPLATE template0`)
    },
  },
  { check: 'fsync', judge: ({ settings }) => judgeMustBeOn(settings.fsync, 'a power cut may ruin the whole database') },
  {
    check: 'full_page_writes',
    judge: ({ settings }) => judgeMustBeOn(settings.full_page_writes, 'a power cut may leave half-written pages'),
  },
  {
    check: 'synchronous_commit',
    judge: ({ settings }) =>
      settings.synchronous_commit === 'off'
        ? weakResult('off: acknowledged requests may be lost in a power cut; turn it on')
        : okResult(settings.synchronous_commit),
  },
  {
    check: 'migrations',
    command: 'rollcall migrate',
    judge({ pending }) {
      if (pending.length === 0) return okResult('all have run')
      return weakResult(
        `${pending.join(', ')} will run at the next start of a server, and other commands are refused before; run rollcall migrate to choose the moment`,
      )
    },
  },
  {
    check: 'database_roles',
    judge({ roles, pending }) {
      if (pending.length > 0) return null
      if (roles.separate) return okResult(`${roles.application} cannot change the audit log`)
      return weakResult(
        `${roles.application} can change and delete audit entries; as a superuser run: ${roleSql(roles)} ` +
          `Then ${roleSetupAdvice(roles)} (docs/roles.md)`,
      )
    },
  },
  {
    check: 'demo_data',
    judge({ content: { demo, real } }) {
      if (demo.length === 0) return okResult('none')
      if (real.length > 0) {
        return brokenResult(
          `beside ${joinFirstNames(real)} there is ${joinFirstNames(demo)}: neither serve nor demo starts on this database`,
        )
      }
      return weakResult(`${joinFirstNames(demo)}: rollcall serve refuses this database; use another in production`)
    },
  },
  {
    check: 'registries',
    judge({ unreadable }) {
      if (unreadable.length === 0) return okResult('this version can read every one')
      const found = unreadable.map(({ id, namespace, error }) => `${namespace} (id ${id}, ${error})`)
      return brokenResult(
        `${joinFirstNames(found)} cannot be read and is not served; run the version that made it, or a later one`,
      )
    },
  },
  {
    check: 'nodes',
    judge({ overdue }) {
      if (overdue === 0) return okResult('no accepted request waits for a worker')
      return weakResult(
        `${countWithNoun(overdue, 'accepted request is', 'accepted requests are')} due for a minute or more, and no node has claimed them: start a worker, or read its log`,
      )
    },
  },
  {
    check: 'mailboxes',
    command: 'rollcall subscriptions resume <code>',
    judge({ withClosedMailbox }) {
      if (withClosedMailbox.length === 0) return okResult('notifications are delivered to every participant')
      return weakResult(
        `a mailbox of ${idList(withClosedMailbox)} is closed: nothing could be delivered for too long; ask them, then rollcall subscriptions resume`,
      )
    },
  },
  {
    check: 'held_deliveries',
    command: 'rollcall participant callback <sender_id> --default-url <url>',
    judge({ withHeldDeliveries }) {
      if (withHeldDeliveries.length === 0) return okResult('an address is known for every callback')
      return weakResult(
        `answers to ${idList(withHeldDeliveries)} are held, because no address for callbacks is known: set one, then rollcall deliveries replay --state held`,
      )
    },
  },
  {
    check: 'accounts_witnessed',
    judge({ unwitnessed, unwitnessedEntries }) {
      if (unwitnessed === 0) return okResult('no process has failed to give checkpoints to the witness within a day')
      return weakResult(
        `${countWithNoun(unwitnessed, 'process', 'processes')} could not give the last checkpoints to the witness, which lacks up to ${countWithNoun(unwitnessedEntries, 'entry', 'entries')}; the log says why (ROLLCALL_WITNESS)`,
      )
    },
  },
  {
    check: 'journal',
    judge({ embedded, journal, journals }) {
      const failing = journals.filter(({ problem }) => problem !== null)
      if (failing.length > 0) {
        const said = failing.map(({ machine, problem }) => `the service on ${machine} says: ${problem}`)
        return brokenResult(`erasures and revocations are refused; ${joinFirstNames(said)}`)
      }
      if (journal === undefined) {
        if (embedded) return null
        return weakResult(
          'there is no journal: a restore from a backup would undo erasures, withdrawals and revocations; set ROLLCALL_JOURNAL (docs/backup.md)',
        )
      }
      if (journals.length === 0) {
        return weakResult(
          `no service has said within ${MOST_REPORT_AGE_MINUTES} minutes that it can write its journal: start it with ROLLCALL_JOURNAL=${journal}, or read its log`,
        )
      }
      const written = journals.map(({ machine, path }) => `${path} on ${machine}`)
      return okResult(`the service writes erasures and revocations to ${joinFirstNames(written)} too`)
    },
  },
  {
    check: 'outbox',
    command: 'rollcall outbox show',
    judge({ outbox: { waiting, failed, oldest } }) {
      if (failed > 0) {
        return weakResult(`${countWithNoun(failed, 'row')} of the outbox could not be published; rollcall outbox show says why`)
      }
      if (oldest >= LAG_WARNING_SECONDS) {
        return weakResult(
          `${countWithNoun(waiting, 'row')} of the outbox ${waiting === 1 ? 'waits' : 'wait'}, the oldest for ${Math.floor(oldest)} seconds: start a worker, or read its log`,
        )
      }
      return okResult('no row has failed, and none has waited for a minute')
    },
  },
  {
    check: 'mirrors',
    command: 'rollcall source status <namespace>',
    judge({ mirrors }) {
      if (mirrors.length === 0) return null
      const [failing] = mirrors.filter(({ failure }) => failure !== null)
      if (failing !== undefined) {
        return weakResult(`the copy of ${failing.namespace} cannot follow its source: ${failing.failure}`)
      }
      const late = mirrors.filter(({ lag }) => (lag ?? 0) >= LAG_WARNING_SECONDS).map(({ namespace }) => namespace)
      if (late.length > 0) {
        return weakResult(`${joinFirstNames(late)} may miss changes of the last minute: start a worker, or read its log`)
      }
      const loading = mirrors.filter(({ lag }) => lag === null).map(({ namespace }) => namespace)
      if (loading.length > 0) {
        return weakResult(
          `${joinFirstNames(loading)} cannot be asked until all records were read once: rollcall source status says how far it is`,
        )
      }
      return okResult('each copy follows its source within a minute')
    },
  },
  {
    check: 'filled_attributes',
    command: 'rollcall index apply',
    judge({ indexes }) {
      const unfilled = indexes.filter((plan) => plan.unfilled.length > 0)
      if (unfilled.length === 0) return okResult('every attribute can be searched')
      const found = unfilled.flatMap((plan) => plan.unfilled.map((name) => `${name} of ${plan.namespace}`))
      return weakResult(`searches with ${joinFirstNames(found)} are refused until rollcall index apply has run`)
    },
  },
  {
    check: 'indexes',
    command: 'rollcall index apply',
    judge({ indexes }) {
      const missing = indexes.flatMap((plan) => plan.missing.map((name) => `${name} of ${plan.namespace}`))
      if (missing.length === 0) return okResult('no declared one is missing')
      return weakResult(`searches by ${joinFirstNames(missing)} read every record until rollcall index apply has run`)
    },
  },
  {
    check: 'client_secrets',
    command: 'rollcall participant secret rotate <sender_id>',
    judge({ withoutSecret }) {
      if (withoutSecret.length === 0) return okResult('every participant has a valid one')
      return weakResult(`${idList(withoutSecret)} cannot get a token: no valid client secret`)
    },
  },
  {
    check: 'signatures',
    command: 'rollcall participant policy <sender_id> --signature required',
    judge({ unsigned }) {
      if (unsigned.length === 0) return okResult('every participant must sign')
      return weakResult(
        `unsigned messages of ${idList(unsigned)} are accepted: anybody who has the client secret can send them; register a key, then rollcall participant policy ... --signature required`,
      )
    },
  },
  {
    check: 'signature_keys',
    command: 'rollcall participant key add <sender_id> <file>',
    judge({ withoutSignatureKey }) {
      if (withoutSignatureKey.length === 0) return okResult('every participant that must sign has one')
      return weakResult(
        `${idList(withoutSignatureKey)} must sign and has no valid key of its profile: its messages are refused until rollcall participant key add`,
      )
    },
  },
  {
    check: 'grants',
    command: 'rollcall grant set <sender_id> <namespace> --file <file>',
    judge({ grants: { weak: all } }) {
      if (all.length === 0) return okResult('none shows everything without a condition')
      return weakResult(
        `the grant of ${weakGrantsText(all)} asks and shows everything of every record: replace it with rollcall grant set`,
      )
    },
  },
  {
    check: 'expiring_grants',
    command: 'rollcall grant set <sender_id> <namespace> --file <file> --beside',
    judge({ grants: { expiring } }) {
      if (expiring.length === 0) return okResult('none ends within 30 days')
      const found = expiring.map((row) => `${row.sender_id} in ${row.namespace} (${row.valid_until})`)
      return weakResult(`the grant of ${joinFirstNames(found)} ends soon: grant a later one with rollcall grant set --beside`)
    },
  },
  {
    check: 'without_grant',
    command: 'rollcall grant set <sender_id> <namespace> --template <name>',
    judge({ grants: { without } }) {
      if (without.length === 0) return okResult('every active participant has a grant')
      return weakResult(`${idList(without)} may do nothing in any registry: rollcall grant set, or disable what is not used`)
    },
  },
  {
    check: 'plain_http',
    judge({ plainHttp }) {
      const hosts = plainHttp.flatMap((row) =>
        row.hosts.filter((host) => !isLoopback(host)).map((host) => `${host} of ${row.sender_id}`),
      )
      if (hosts.length === 0) return okResult('none but to this machine')
      return weakResult(`messages may go without TLS to ${joinFirstNames(hosts)}`)
    },
  },
  {
    check: 'disabled_participants',
    judge: ({ disabled }) => okResult(disabled.length === 0 ? 'none' : `${idList(disabled)}: refused until enabled`),
  },
]

/** The SQL that gives owner and application a role each: the present role stays owner if it is a superuser. */
function roleSql({ application, database, schema, superuser }: DatabaseFacts['roles']): string {
  if (superuser) return "create role rollcall_application login password '...';"
  return [
    "create role rollcall_owner login password '...';",
    `grant ${quoteName(application)} to rollcall_owner;`,
    `alter database ${quoteName(database)} owner to rollcall_owner;`,
    `alter schema ${quoteName(schema)} owner to rollcall_owner;`,
  ].join(' ')
}

function roleSetupAdvice({ superuser }: DatabaseFacts['roles']): string {
  const migrate = 'run rollcall migrate with both'
  if (!superuser) return `set ROLLCALL_OWNER_DATABASE_URL to an address with rollcall_owner, and ${migrate}`
  return (
    'move the address of DATABASE_URL to ROLLCALL_OWNER_DATABASE_URL, set DATABASE_URL to one with ' +
    `rollcall_application, and ${migrate}`
  )
}

const quoteName = (name: string): string => `"${name.replaceAll('"', '""')}"`

function judgeMustBeOn(setting: string, danger: string) {
  return setting === 'on' ? okResult('on') : brokenResult(`${setting}: ${danger}; turn it on`)
}

const MOST_LISTED_NAMES = 5

function joinFirstNames(entries: readonly string[]): string {
  const more = entries.length - MOST_LISTED_NAMES
  return entries.slice(0, MOST_LISTED_NAMES).join(', ') + (more > 0 ? ` and ${more} more` : '')
}

const weakGrantsText = (rows: DatabaseFacts['grants']['weak']): string =>
  joinFirstNames(rows.map(({ sender_id, namespace }) => `${sender_id} in ${namespace}`))

const idList = (participants: DatabaseFacts['disabled']): string => joinFirstNames(participants.map(({ sender_id }) => sender_id))
