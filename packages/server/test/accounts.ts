/** The accounts that a test's server has written, and accounts in memory for tests of a part alone. */
import type {
  AccountEntry,
  AccountedPerson,
  Accounts,
  PersonRole,
  StoredAccountEntry,
} from '../src/model/account.ts'
import type { Database } from '../src/store/db/database.ts'

export interface StoredAccount {
  readonly chain: string
  readonly sequence: number
  readonly at: Date
  readonly entry: StoredAccountEntry
  /** A row for each identifier; its pseudonym in hexadecimal. */
  readonly persons: readonly { readonly role: PersonRole; readonly pseudonym: string }[]
}

/** Every entry in the database; those of each chain in order, the chain that began first is first. */
export async function storedAccounts({ pool }: Pick<Database, 'pool'>): Promise<readonly StoredAccount[]> {
  const { rows } = await pool.query<Omit<StoredAccount, 'entry'> & { readonly entry: string }>(
    `select chain, sequence, at, entry, coalesce((select json_agg(
        json_build_object('role', role, 'pseudonym', encode(pseudonym, 'hex')) order by position)
        from account_person person where person.chain = account.chain and person.sequence = account.sequence
      ), '[]') as persons
      from account order by min(at) over (partition by chain), chain, sequence`,
  )
  return rows.map(({ entry, ...row }) => ({ ...row, entry: JSON.parse(entry) }))
}

/** An entry of an answer, with the members that a test names. */
export const accountEntry = (members: Partial<AccountEntry> = {}): AccountEntry => ({
  kind: 'answer',
  participant: 'sp.example',
  operator: null,
  registry: 'civil',
  operation: 'search',
  correlation_id: null,
  transaction_id: null,
  request: null,
  reply: null,
  grant: 1,
  basis: 'law',
  purpose: null,
  consent: null,
  outcomes: { succ: 1 },
  records: 1,
  asked: { record_types: ['Person'], forms: ['idtype-value'], attributes: [] },
  shown: { Person: ['name'] },
  ...members,
})

/** Accounts in memory. */
export function memoryAccounts(): Accounts & {
  readonly written: { readonly entry: AccountEntry; readonly persons: readonly AccountedPerson[] }[]
} {
  const written: { entry: AccountEntry; persons: readonly AccountedPerson[] }[] = []
  return {
    written,
    async write(entry, persons) {
      written.push({ entry, persons })
    },
  }
}
