/** What works without a server imports nothing that could reach one. */

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";

const SOURCES = new URL("../src/", import.meta.url);
const IMPORT = /^(?:import|export)\b[^;]*?from "([^"]+)";/gm;

function importsOf(folder: string): ReadonlySet<string> {
  const files = readdirSync(new URL(`${folder}/`, SOURCES)).filter((name) => name.endsWith(".js"));
  assert.ok(files.length > 0);
  const texts = files.map((name) => readFileSync(new URL(`${folder}/${name}`, SOURCES), "utf8"));
  return new Set(texts.flatMap((text) => [...text.matchAll(IMPORT)].map(([, name]) => name ?? "")));
}

test("offline needs protobuf, node:crypto and the files asked for", () => {
  const others = [...importsOf("offline")].filter((name) => !name.startsWith("./"));
  const allowed = ["@bufbuild/protobuf", "@bufbuild/protobuf/wkt", "node:crypto", "node:fs", "node:path"];
  const messages = ["capability_service", "memory_service", "proposal_service", "statements", "types"];
  const known = [...allowed, ...messages.map((name) => `../proto/capability_authority/v1/${name}_pb.js`)];
  assert.deepEqual(
    others.filter((name) => !known.includes(name)),
    [],
  );
});
