/** Checkpoints that nobody has signed, for tests of statements that read many of them. */
import { query } from '../../database/test/statement.ts'

/** Inserts a checkpoint for each entry from `from` to `to` of a chain. @param content members of the content of each */
export async function insertCheckpoints(
  owner: Parameters<typeof query>[0],
  { chain, from, to }: { readonly chain: string; readonly from: number; readonly to: number },
  content: object,
): Promise<void> {
  await query(
    owner,
    `insert into account_checkpoint (chain, sequence, hash, at, content, digest, kid, signature)
      select $1::uuid, sequence, '', now(), $4::text, sha256(convert_to($1::text || sequence, 'UTF8')), 'none', ''
      from generate_series($2::integer, $3::integer) as sequence`,
    [chain, from, to, JSON.stringify(content)],
  )
}
