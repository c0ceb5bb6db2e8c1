//! Calls of libraries that remove what clouds, services and databases hold.

use super::calls::Call;
use crate::word_list::is_listed;

/// Libraries of clouds and services.
const REMOTES: [&str; 24] = [
    "boto3",
    "botocore",
    "google.cloud",
    "googleapiclient",
    "azure.",
    "@azure/",
    "@aws-sdk",
    "aws-sdk",
    "Aws::",
    "kubernetes",
    "@google-cloud",
    "digitalocean",
    "stripe",
    "openstack",
    "pulumi",
    "hcloud",
    "octokit",
    "Octokit",
    "elasticsearch",
    "firebase",
    "cloudflare",
    "docker.from_env",
    "docker.DockerClient",
    "linode",
];

/// Why code is dangerous that removes or stops what a cloud or a service holds.
pub(super) fn of_library(call: &Call, tight: &str) -> Option<String> {
    if !REMOTES.iter().any(|library| tight.contains(library)) {
        return None;
    }
    let name = call.name.trim_start_matches('_').to_lowercase();
    let starts = [
        "delete",
        "terminate",
        "destroy",
        "drop",
        "purge",
        "revoke",
        "stop",
        "batch_delete",
        "batchdelete",
        "schedule_key_deletion",
        "deregister",
        "detach",
        "begin_delete",
        "begindelete",
        "remove",
        "empty",
        "prune",
        "disable",
        "reboot",
        "put_bucket_policy",
        "put_bucket_acl",
        "authorize_security_group",
        "attach_user_policy",
        "attach_role_policy",
        "create_access_key",
        "begin_deallocate",
        "begin_power_off",
        "refund",
    ];
    starts
        .iter()
        .any(|start| name.starts_with(start))
        .then(|| format!("`{}` removes or stops what a service holds", call.name))
}

/// Calls that empty a database or a store.
const EMPTIERS: &str = "
    flushall flushdb flushAll flushDb drop_database dropDatabase drop_collection delete_by_query deleteByQuery drop_all
    delete_index";
/// How code of frameworks removes all that it finds.
const EMPTIED: [&str; 26] = [
    ".delete_all",
    ".destroy_all",
    ".truncate_all",
    "delete_all(",
    "deleteMany({})",
    "deleteMany()",
    "deleteMany({where:{}})",
    ".all().delete()",
    ".all.delete",
    ".all.each(&:destroy",
    "::truncate()",
    "->truncate()",
    "->forceDelete()",
    "::query()->delete()",
    "query.delete()",
    "drop_table",
    "dropTable(",
    "dropIfExists(",
    "dropAllTables",
    "drop_database",
    "truncate_tables",
    "flushall()",
    "flushdb()",
    "FLUSHALL",
    "destroy({where:{}",
    "destroy({truncate:true",
];
/// Calls that empty a file.
const TRUNCATERS: &str = "truncate truncateSync ftruncate os_truncate";

/// Why a call is dangerous that empties a store or a file, or deletes over HTTP.
pub(super) fn of_store(call: &Call, tight: &str) -> Option<String> {
    if is_listed(&call.name, EMPTIERS) {
        return Some(format!("`{}` empties what a database holds", call.name));
    }
    if EMPTIED.iter().any(|part| tight.contains(part)) {
        return Some("it removes every row or document that it finds".to_owned());
    }
    let forces = |text: &String| matches!(text.as_str(), "--force" | "-f" | "--mirror");
    if call.name == "push" && call.texts.iter().any(forces) {
        return Some("it overwrites what others may have".to_owned());
    }
    let is_file = |text: &String| text.contains('.') || text.contains('/');
    if is_listed(&call.name, TRUNCATERS) && call.texts.first().is_some_and(is_file) {
        return Some(format!("`{}` empties a file", call.name));
    }
    let is_far = |text: &String| {
        text.starts_with("http") && !text.contains("localhost") && !text.contains("127.0.0.1")
    };
    let is_request = ["requests", "httpx", "axios", "http", "client", "session"]
        .iter()
        .any(|library| call.path.starts_with(library));
    let deletes = (call.name == "delete" && is_request)
        || (tight.contains("method:'DELETE'")
            || tight.contains("method:\"DELETE\"")
            || tight.contains("method='DELETE'"));
    (deletes && call.texts.iter().any(is_far)).then(|| "it deletes what others may need".to_owned())
}
