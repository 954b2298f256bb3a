/**
 * Whether attention over past runs ranks tools better than the ranking without it, on this home's
 * own later intents; and its scores while it does.
 */
export {
  type Attention,
  type AttentionReport,
  type AttentionState,
  openAttention,
  writeAttention,
} from './attention-state.ts'
export { followAttention } from './follow-attention.ts'
