/** Texts that every page shares. Another language is another set of these files. */

/** How times and numbers are written. */
export const LOCALE = 'en-GB'

export const COMMON = {
  product: 'Rollcall',
  console: 'Operator console',
  demo: 'Demo',
  loading: 'Loading',
  retry: 'Try again',
  cancel: 'Back',
  close: 'Close',
  copy: 'Copy',
  copied: 'Copied',
  copyOf: (what: string) => `Copy ${what}`,
  none: 'none',
  never: 'never',
  yes: 'yes',
  no: 'no',
  all: 'all',
  unchanged: 'not chosen',
  refresh: 'Refresh',
  details: 'Details',
  newest: 'Newest',
  older: 'Older',
  pages: 'Pages of the table',
  search: 'Search',
  clear: 'Clear',
  more: 'More conditions',
  outdated: 'The server has not answered since. This is what it said before.',
  notAnswered: 'This could not be shown',
  notDone: 'This was not done',
  noObject: 'The text is no JSON object.',
  proposed: 'A second operator has to approve this. Nothing has changed yet.',
  toProposal: 'Open the proposal',
  emptyTable: 'Nothing here',
  noMatch: 'Nothing matches the filter',
  noMatchAdvice: 'Take a condition out of the filter, or choose a longer time.',
  ago: (text: string) => `${text} ago`,
  gone: 'It is not here',
  goneAdvice:
    'It was removed or its time of storage is over, or it belongs to a registry that you may not see.',
  pageFailed: {
    title: 'This page has failed',
    advice:
      'The fault is in the console, not in your data. Load the page again. If it fails again, report it.',
  },
  pageNotLoaded: {
    title: 'This page could not be loaded',
    advice: 'The server does not answer, or it was updated. Load the page again.',
  },
  reload: 'Load the page again',
  notFound: 'There is no such page',
  notFoundAdvice: 'The address may be mistyped, or the page may need a role that you do not have.',
  toOverview: 'Go to the overview',
  secretOnce: 'This is shown once. The server stores only its digest.',
  secretStored: 'I have stored it',
} as const
