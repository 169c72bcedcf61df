/** The job that drains a participant's deliveries is never lost to one who takes it, runs it or failed with it. */
import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'

export const drainJob: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`drop function drain_deliveries`.execute(db)
    // A participant has one job that drains its deliveries, and it is only ever moved to an earlier time. The lock
    // keeps those who move it apart, and each statement behind it sees what the one before has committed.
    //
    // The job's row is locked as well: whoever is about to take it waits for this transaction, and whoever is taking
    // it has taken it when the row is there. A job that was taken may have looked already, so another follows it; and
    // as the one that was taken is not tried again when it fails, the other is never much later, except where the
    // running one says itself that it is at its end.
    await sql`create function drain_deliveries(of_participant integer, at timestamptz, ending boolean default false)
      returns void language plpgsql as $$
      declare
        name constant text := 'drain:' || of_participant;
        soonest timestamptz;
      begin
        perform pg_advisory_xact_lock(hashtextextended('rollcall drain', of_participant));
        select case when locked_at is null then run_at when not ending then now() + interval '1 minute' end
          into soonest from graphile_worker._private_jobs where key = name for update;
        perform graphile_worker.add_job('drain', json_build_object('participant', of_participant),
          queue_name => name, job_key => name, run_at => least(soonest, at), max_attempts => 1000);
      end $$`.execute(db)
  },
}
