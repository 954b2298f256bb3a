/**
 * Approvals in the host's own forms: verbs enter, and the same verbs leave with an execute() that
 * asks the client's human. A form that is closed or cannot be read leaves the approval open.
 */
export { withElicitation } from './elicit.ts'
export {
  channelOfAttendant,
  channelOfRequest,
  FormRequired,
  type Forms,
  openForms,
  readFormKey,
} from './form-channel.ts'
export { requestDigest } from './request-digest.ts'
