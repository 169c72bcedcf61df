/** When each code is answered: the causes on docs/troubleshooting.md. */
import type { CodePlace } from '../../packages/protocol/src/codes.ts'

export const TRIGGERS: Readonly<Record<CodePlace, Readonly<Record<string, string>>>> = {
  ack: {
    'err.request.bad':
      'Not JSON, a member name twice in one object, nested too deep, a NUL or lone surrogate, a number that a double would change. No header, message or array of items. A transaction_id, timestamp or locale of the wrong format, a page_size or page_number below 1. No `header.meta.requested_by` or `header.meta.case` where the grant demands it ([grants.md](grants.md#who-asks)). A subscription code over 99 characters. No items or codes. On asynchronous paths also a wrong action, message_ts or total_count, too many items, or a message_id used before, with the `rjct` code in the text. Wrong parts of an upload, or lines of its file ([uploads.md](uploads.md)). HTTP 405 for a wrong method, 413 for a body over the limit, 415 for a wrong content type.',
    'err.request.unauthorized':
      'No Authorization header, a token that is expired, malformed or of another server, a participant that has been disabled.',
    'err.request.forbidden':
      'The token is valid, but its participant has no grant in this registry now, or its grant does not have the operation ([grants.md](grants.md)). Also, with the same text, a [sandbox](sandbox.md) participant at a live registry, and a live one at a sandbox registry.',
    'err.request.not_found':
      "There is no registry with this namespace, no such path, or the registry's kind has no such operation.",
    'err.request.timeout': 'The body arrives too slowly, or the answer takes longer than the limit.',
    'err.version.not_supported': 'Asynchronous paths; a synchronous reply says `rjct.version.invalid` in its header.',
    'err.request.too_many_requests':
      'The requests a second or at a time of the participant, or of all, are used up; too many requests of the address had no valid token; the limit for callbacks or asynchronous requests in a day is reached; the only item of a synchronous message is above the rate of items of the grant; in the admin API, the node works on as many such calls as it may. With Retry-After.',
    'err.sender_id.invalid': 'Whether or not a participant of that name exists.',
    'err.sender_uri.invalid':
      'Asynchronous paths: no absolute http or https address, one that is not registered for the sender, or one that the rules for outgoing requests refuse (host, port, scheme, network).',
    'err.receiver_id.invalid': 'Only when a receiver_id is present and not empty.',
    'err.signature.missing':
      'The policy is `required` and the envelope has no signature, or a placeholder. For an uploaded file: no envelope, or a signed one without file_sha256.',
    'err.signature.invalid':
      "The signature breaks the grammar of the participant's layout, names an algorithm, namespace, key or sender that is not valid here, does not verify, has expired, lies in the future or lives over an hour; without times of its own, `message_ts` is over 24 hours old. Under `if-present` also a text that is neither a signature nor a known placeholder. An uploaded file has another SHA-256 than its envelope says.",
    'err.encryption.invalid':
      '`is_msg_encrypted` differs from the message, a member is missing, or the policy forbids it. The message cannot be decrypted: unknown kid, another algorithm, a changed part, no JSON object inside, a ciphertext that arrived in another message before. The participant has no key for the answer.',
    'err.service.unavailable':
      'The database cannot be reached, too many messages wait for it, the access cannot be accounted for ([audit-log.md](audit-log.md#which-entries-there-are)), the service is stopping, or a search got no slot within `ROLLCALL_SEARCH_TIMEOUT`. HTTP 500 for an error of ours.',
  },
  header: {
    'rjct.version.invalid': '`header.version` is present and is no spelling of version 1.',
    'rjct.message_id.duplicate':
      'Header, message, namespace or path differ from the first. The same message sent again, also signed or encrypted anew, is no duplicate. Messages that were refused before they were decrypted are not remembered.',
    'rjct.message_ts.invalid':
      '`ROLLCALL_MESSAGE_TS_WINDOW` is set and the message_ts of a request is further from now. Not checked for callbacks.',
    'rjct.action.invalid': '`header.action` is known, but this path does not accept it.',
    'rjct.action.not_supported': '`header.action` belongs to no operation at all.',
    'rjct.total_count.invalid':
      'Compared with search_request, subscribe_request and notify_event only; missing and 0 are tolerated.',
    'rjct.total_count.limit_exceeded':
      'An encrypted message has too many items. For a message in clear the answer is 400 `err.request.bad` with this code in its text.',
    'rjct.errors.too_many': 'Beside header status `rjct` when no item of a batch succeeded.',
  },
  search: {
    'rjct.reference_id.invalid':
      'For the item alone. Also in the answer to a status question about what the sender does not have here.',
    'rjct.reference_id.duplicate': 'The first is answered, each later one is rejected.',
    'rjct.timestamp.invalid': 'A window is configured. A wrong format is `err.request.bad`.',
    'rjct.search_criteria.invalid':
      "An unknown query_type, identifier type, attribute, operator or member; a query of the wrong shape or above a limit; a value that the attribute's type cannot read; an empty list or condition; a foreign reg_type; record types that contradict each other; a question that does not name one person. What a participant may not ask about is unknown to it ([grants.md](grants.md)). A consent that the grant demands: missing, too old, of a purpose that is not granted, not signed, or wrong in its signature, audience, person or times ([consent.md](consent.md)); a withdrawn one is no error, but answered as an unknown person. In an [emergency](grants.md#emergencies): its ts is not of the last 24 hours, or it says no reason. A household's members, where [minors](grants.md#minors) may not be found. A search that takes longer than `ROLLCALL_SEARCH_TIMEOUT`, or that has not started when the searches of its request have taken a minute (in an asynchronous request an hour).",
    'rjct.filter.invalid': 'An expression or GraphQL text with a syntax error.',
    'rjct.sort.invalid':
      'The record type does not have the attribute, it may occur many times, or is named twice; the order is neither asc nor desc.',
    'rjct.pagination.invalid':
      'page_size above the limit of the registry, the participant or its grant; a misspelt member; a page that would begin beyond the cap of results. Below 1: `err.request.bad`.',
    'rjct.search.too_many_records_found':
      'More than `ROLLCALL_MAX_RESULTS`, on every page. Also when the records of the whole answer grow too large, or a daily quota or the rate of the grant is used up. With `counts: capped` more than the cap is answered, without records.',
  },
  subscribe: {
    'rjct.reference_id.invalid': 'For the item alone.',
    'rjct.reference_id.duplicate': 'The first is answered, each later one is rejected.',
    'rjct.timestamp.invalid': 'A window is configured. A wrong format is `err.request.bad`.',
    'rjct.notify_types.invalid':
      'reg_event_type or notify_record_type is missing or unknown. The text names those that there are.',
    'rjct.notify_details.invalid':
      'A filter that is not understood, or missing where the grant demands one; an event type or record type that is not granted; a frequency that is refused ([events.md](events.md#frequency)); a foreign reg_type, another version, an authorize of another shape; a misspelt member. Also where the participant has as many subscriptions as it may have, and where there is no address for notifications.',
    'rjct.person_id.invalid': 'Anywhere in the filter. A person that the registry does not know may be subscribed to.',
    'rjct.event.already_subscribed':
      'Same sender, registry, event type, record type, filter, and frequency with its start_time, in any spelling, as a subscription that has not ended, or as an earlier item. The text names the code.',
  },
  unsubscribe: {
    'rjct.reference_id.invalid': 'Listed by the standard; the message has no reference_id, so it is not answered here.',
    'rjct.reference_id.duplicate': 'Listed by the standard; the message has no reference_id, so it is not answered here.',
    'rjct.timestamp.invalid': 'A window is configured. A wrong format is `err.request.bad`.',
    'rjct.subscription_code.invalid': 'No subscription of the sender in this registry has one of the codes.',
    'rjct.requester.invalid': "A code is the sender's own, and its grant does not allow such a subscription any more.",
    'rjct.event.already_unsubscribed':
      "The sender's subscription has ended: by an unsubscribe, by the operator, at its end_time, or with the death of its person.",
  },
}
