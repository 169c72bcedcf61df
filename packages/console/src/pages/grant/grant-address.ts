/** Identifies a grant: its participant and its registry. */
export interface GrantAddress {
  readonly sender_id: string
  readonly namespace: string
}
