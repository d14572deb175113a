// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials
import Glibc

extension Results.Circumstances {
    /// The load average of the last minute.
    static var loadAverageNow: Double {
        var averages = [0.0]
        return getloadavg(&averages, 1) == 1 ? averages[0] : 0
    }

    /// Describes a run that is over.
    init(_ options: Options, loadAverage: Double, seconds: Double) {
        let commit = (try? Child.run("git", ["describe", "--always", "--dirty"], silently: true))?.output ?? ""
        self.init(
            date: Date.now.formatted(.iso8601.year().month().day()),
            machine: "\(Self.processor), \(sysconf(Int32(_SC_NPROCESSORS_ONLN))) processors, \(Self.system)",
            commit: commit.isEmpty ? "unknown" : String(commit.prefix { $0 != "\n" }),
            rounds: options.rounds,
            isQuick: options.isQuick,
            loadAverage: loadAverage,
            seconds: seconds
        )
    }

    private static var processor: String {
        let text = (FileManager.default.contents(atPath: "/proc/cpuinfo")).map { String(decoding: $0, as: UTF8.self) }
        let line = text?.split(separator: "\n").first { $0.hasPrefix("model name") }
        return line?.split(separator: ":").last.map { String($0.drop { $0 == " " }) } ?? "unknown processor"
    }

    private static var system: String {
        let output = (try? Child.run("uname", ["-srm"]))?.output ?? ""
        return String(output.prefix { $0 != "\n" })
    }
}
