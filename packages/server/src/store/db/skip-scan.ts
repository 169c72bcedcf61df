/**
 * SQL of a recursive `waiting (participant)`: the participants with rows that match, each found by one step in an index that
 * begins with the participant. It costs as much for a million rows of one participant as for one row.
 * @param condition as the index has it
 */
export const participantsWith = (table: string, condition: string): string =>
  `waiting (participant) as (
    (select participant from ${table} where ${condition} order by participant limit 1)
    union all
    select following.participant from waiting cross join lateral (
      select participant from ${table}
      where ${condition} and participant > waiting.participant order by participant limit 1
    ) as following
  )`
