/** Every migration by name. They run in the order of their names: a new one gets the next number. */
import type { SchemaMigration } from '../migration.ts'
import { directory } from './0001-directory.ts'
import { importProgress } from './0002-import-progress.ts'
import { keys } from './0003-keys.ts'
import { messageMemory } from './0004-message-memory.ts'
import { quotas } from './0005-quotas.ts'
import { sealPolicies } from './0006-seal-policies.ts'
import { registryAttributes } from './0007-registry-attributes.ts'
import { recordTombstones } from './0008-record-tombstones.ts'
import { slowSearches } from './0009-slow-searches.ts'
import { asynchronousExchanges } from './0010-asynchronous-exchanges.ts'
import { inbox } from './0011-inbox.ts'
import { drainJob } from './0012-drain-job.ts'
import { acceptedDays } from './0013-accepted-days.ts'
import { requestBytes } from './0014-request-bytes.ts'
import { deliveryDestinations } from './0015-delivery-destinations.ts'
import { exchangeReferences } from './0016-exchange-references.ts'
import { readingRules } from './0017-reading-rules.ts'
import { exchangeClaims } from './0018-exchange-claims.ts'
import { events } from './0019-events.ts'
import { mergedRecords } from './0020-merged-records.ts'
import { notificationReferences } from './0022-notification-references.ts'
import { enrolment } from './0023-enrolment.ts'
import { grants } from './0024-grants.ts'

import { accounts } from './0025-accounts.ts'
import { retention } from './0026-retention.ts'
import { protectedPersons } from './0027-protected-persons.ts'
import { consents } from './0028-consents.ts'
import { waitingNotifications } from './0029-waiting-notifications.ts'
import { accountReviews } from './0030-account-reviews.ts'
import { protectionOfRetired } from './0031-protection-of-retired.ts'
import { environments } from './0032-environments.ts'
import { identifierTypes } from './0034-identifier-types.ts'
import { restorations } from './0035-restorations.ts'
import { schemaVersions } from './0036-schema-versions.ts'
import { accountEvidence } from './0037-account-evidence.ts'
import { recalledEnvelopes } from './0038-recalled-envelopes.ts'
import { webOrigins } from './0039-web-origins.ts'
import { openJournalLines } from './0040-open-journal-lines.ts'
import { formerParticipants } from './0041-former-participants.ts'
import { accountTimes } from './0042-account-times.ts'
import { journalIncarnations } from './0043-journal-incarnations.ts'
import { operatorSessions } from './0044-operator-sessions.ts'
import { deadLetters } from './0045-dead-letters.ts'
import { deliveryLists } from './0046-delivery-lists.ts'
import { proposals } from './0048-proposals.ts'
import { partnerSessions } from './0049-partner-sessions.ts'
import { providedRegistries } from './0050-provided-registries.ts'
import { recordVersions } from './0054-record-versions.ts'
import { registrySpellings } from './0055-registry-spellings.ts'
import { importRuns } from './0056-import-runs.ts'
import { referenceKeys } from './0057-reference-keys.ts'
import { journalReports } from './0058-journal-reports.ts'
import { sessions } from './0059-sessions.ts'
import { packedAccounts } from './0060-packed-accounts.ts'
import { recordKeys } from './0061-record-keys.ts'
import { registryRecords } from './0062-registry-records.ts'
import { registrySources } from './0063-registry-sources.ts'
import { sourceMirrors } from './0064-source-mirrors.ts'
import { sourceChanges } from './0065-source-changes.ts'
import { roomForUpdates } from './0066-room-for-updates.ts'

export const MIGRATIONS: Readonly<Record<string, SchemaMigration>> = {
  '0001-directory': directory,
  '0002-import-progress': importProgress,
  '0003-keys': keys,
  '0004-message-memory': messageMemory,
  '0005-quotas': quotas,
  '0006-seal-policies': sealPolicies,
  '0007-registry-attributes': registryAttributes,
  '0008-record-tombstones': recordTombstones,
  '0009-slow-searches': slowSearches,
  '0010-asynchronous-exchanges': asynchronousExchanges,
  '0011-inbox': inbox,
  '0012-drain-job': drainJob,
  '0013-accepted-days': acceptedDays,
  '0014-request-bytes': requestBytes,
  '0015-delivery-destinations': deliveryDestinations,
  '0016-exchange-references': exchangeReferences,
  '0017-reading-rules': readingRules,
  '0018-exchange-claims': exchangeClaims,
  '0019-events': events,
  '0020-merged-records': mergedRecords,
  '0022-notification-references': notificationReferences,
  '0023-enrolment': enrolment,
  '0024-grants': grants,
  '0025-accounts': accounts,
  '0026-retention': retention,
  '0027-protected-persons': protectedPersons,
  '0028-consents': consents,
  '0029-waiting-notifications': waitingNotifications,
  '0030-account-reviews': accountReviews,
  '0031-protection-of-retired': protectionOfRetired,
  '0032-environments': environments,
  '0034-identifier-types': identifierTypes,
  '0035-restorations': restorations,
  '0036-schema-versions': schemaVersions,
  '0037-account-evidence': accountEvidence,
  '0038-recalled-envelopes': recalledEnvelopes,
  '0039-web-origins': webOrigins,
  '0040-open-journal-lines': openJournalLines,
  '0041-former-participants': formerParticipants,
  '0042-account-times': accountTimes,
  '0043-journal-incarnations': journalIncarnations,
  '0044-operator-sessions': operatorSessions,
  '0045-dead-letters': deadLetters,
  '0046-delivery-lists': deliveryLists,
  '0048-proposals': proposals,
  '0049-partner-sessions': partnerSessions,
  '0050-provided-registries': providedRegistries,
  '0054-record-versions': recordVersions,
  '0055-registry-spellings': registrySpellings,
  '0056-import-runs': importRuns,
  '0057-reference-keys': referenceKeys,
  '0058-journal-reports': journalReports,
  '0059-sessions': sessions,
  '0060-packed-accounts': packedAccounts,
  '0061-record-keys': recordKeys,
  '0062-registry-records': registryRecords,
  '0063-registry-sources': registrySources,
  '0064-source-mirrors': sourceMirrors,
  '0065-source-changes': sourceChanges,
  '0066-room-for-updates': roomForUpdates,
}
