/** What credentials are good for, and where they are not enough. */

import { type Credentials, CredentialsRefused, type PrivateKey } from "../offline/index.js";

/** The private key. @throws {CredentialsRefused} (of `offline`) where there is none. */
export function signingKeyOf({ privateKey }: Credentials): PrivateKey {
  if (privateKey === undefined) {
    throw new CredentialsRefused("these credentials hold no key that signs");
  }
  return privateKey;
}

/**
 * What binds a holder, "sha256:…": the thumbprint of the key, or the id of the certificate's credential.
 *
 * @throws {CredentialsRefused} (of `offline`) for a token, which binds nobody.
 */
export function boundKeyIdOf({ privateKey, credentialId }: Credentials): string {
  const keyId = privateKey?.publicKey.keyId ?? credentialId;
  if (keyId === "") {
    throw new CredentialsRefused("these credentials hold nothing to which a capability could be bound");
  }
  return keyId;
}
