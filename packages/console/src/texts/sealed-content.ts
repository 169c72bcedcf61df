/** Texts of content that is personal data. */
export const SEALED_CONTENT = {
  title: 'Content',
  lead: 'What was sent and answered is encrypted in the database. Looking at it is written to the audit log with your name and your reason.',
  act: 'Show the content',
  reason: 'Reason',
  reasonAdvice: 'Such as the number of a complaint. It is stored in the audit log, where others read it.',
  open: 'Log and show',
} as const
