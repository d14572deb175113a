// SPDX-License-Identifier: Apache-2.0
import RefrainQueue

@testable import RefrainCLI

/// Makes states as earlier versions have written them.
enum EarlierTables {
    /// Gives a state the tables that the versions before 2026-12 made, with its rows.
    static func write(_ path: String) throws {
        try Database(path: path).run(
            """
            DROP VIEW requests;
            CREATE TABLE requests (
                identity TEXT PRIMARY KEY NOT NULL, url TEXT NOT NULL, method TEXT NOT NULL, name TEXT, folded TEXT,
                outcome TEXT NOT NULL, status INTEGER, validator TEXT, bytes INTEGER NOT NULL,
                attempts INTEGER NOT NULL, key TEXT, error TEXT, ended REAL, list TEXT, begun REAL,
                isOld INTEGER NOT NULL DEFAULT 0, settled REAL, claims INTEGER NOT NULL DEFAULT 0
            ) WITHOUT ROWID;
            CREATE UNIQUE INDEX names ON requests (folded) WHERE folded IS NOT NULL;
            CREATE TABLE lists (name TEXT PRIMARY KEY NOT NULL, isRead INTEGER NOT NULL) WITHOUT ROWID;
            CREATE TABLE running (id INTEGER PRIMARY KEY);
            INSERT INTO requests SELECT dedupe, substr(head, instr(head, ' ') + 1),
                substr(head, 1, instr(head, ' ') - 1), coalesce(output, target), target,
                CASE state WHEN 2 THEN 'done' WHEN 3 THEN coalesce(record, 'failed') WHEN 4 THEN 'unknown'
                    ELSE 'pending' END,
                status, validator, bytes, attempts, key, error, CASE WHEN state > 0 THEN changed / 1000.0 END, list,
                begun / 1000.0, 0, CASE WHEN record = 'forgotten' THEN changed / 1000.0 END, claims
                FROM refrain_request;
            INSERT INTO lists SELECT name, isRead FROM refrain_list;
            DROP TABLE refrain_request; DROP TABLE refrain_list; DROP TABLE refrain_queue;
            PRAGMA user_version = 1
            """
        )
    }
}
