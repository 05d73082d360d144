import type { ProblemCode } from "../api";
import { zhTW as chat } from "../chat/zh-TW";
import { zhTW as memory } from "../memory/zh-TW";
import { zhTW as models } from "../models/zh-TW";
import { zhTW as schedules } from "../schedules/zh-TW";
import { zhTW as settings } from "../settings/zh-TW";
import { zhTW as status } from "../status/zh-TW";
import type { en } from "./en";

const PROBLEMS: Record<ProblemCode, string> = {
  invalid: "這個內容不能用，請修改後再試一次。",
  settings: "設定的值不能用，請修正後再試一次。",
  "not-found": "找不到這一項，可能已經刪除了。",
  "memory-full": "記憶已滿。請先刪除不再需要的記憶，或到「設定」提高上限。",
  conflict: "內容在這段期間改過了，所以沒有照做。請看過目前的內容再決定。",
  "corrupt-file": "有個檔案的內容無法讀取，為了不弄丟任何東西，先停了下來。",
  storage: "檔案無法讀寫。請檢查伺服器的磁碟空間和檔案權限。",
  embedding: "語意模型沒有正常回應。請稍後再試，或到「設定」關閉「比對語意」。",
  model: "模型沒有正常回應。請稍後再試，或到「設定」檢查模型。",
  "locked-setting": "這項設定已由伺服器的管理者固定，不能在這裡更改。",
  "fixed-setting": "這項設定只能由管理者在伺服器那台電腦上更改。",
  "unconfirmed-address": "這個網址不在這台電腦上，請先確認可以把你說的話送到那裡。",
  "operator-only": "只有執行 Turnleaf 的人可以這麼做。如果就是你，請從 Turnleaf 啟動時印出的連結開啟這個頁面。",
  unauthorized: "需要權杖，請重新登入。",
  "too-many-tokens": "輸入錯誤的權杖太多次了，請等一分鐘再試。",
  "limit-reached": "這份記憶目前的用量已經到上限。請稍後再試，或請伺服器的管理者提高上限。",
  "space-full": "這份記憶已經滿了。請刪除一些對話，或請伺服器的管理者提高上限。",
  "other-space": "你的權杖是另一份記憶的。",
  "foreign-page": "伺服器不接受其他網頁送來的要求，請開啟它自己的頁面。",
  "foreign-name": "伺服器不認得這個主機名稱，請伺服器的管理者允許它。",
  busy: "伺服器正在忙，請稍等一下再試。",
  "too-large": "內容太大了，請縮短後再試一次。",
  "too-slow": "傳送得太慢，伺服器不再等了。請檢查網路後再試一次。",
  "wrong-media-type": "伺服器不接受這種格式的內容。請重新載入頁面後再試一次。",
  "wrong-method": "伺服器不接受這個動作。請重新載入頁面後再試一次。",
  "no-such-address": "伺服器沒有這項功能。請重新載入頁面後再試一次。",
  "unreadable-body": "伺服器讀不懂送出的內容，請檢查後再試一次。",
  "invalid-request": "送出的內容不符合要求，請檢查後再試一次。",
  "changed-meanwhile": "這個檔案剛在別處改過，請先比對再儲存。",
  unexpected: "伺服器出了錯，原因寫在它的記錄檔裡。",
};

/** 臺灣正體中文。 */
export const zhTW: typeof en = {
  common: {
    cancel: "取消",
    close: "關閉",
    copied: "已複製",
    copy: "複製",
    delete: "刪除",
    edit: "編輯",
    on: "開",
    off: "關",
    save: "儲存",
    tryAgain: "再試一次",
    undo: "復原",
    undone: "已復原。",
  },
  nav: {
    skip: "跳到主要內容",
    label: "Turnleaf",
    chat: "對話",
    memory: "記憶",
    schedules: "排程",
    status: "狀態",
    settings: "設定",
    pending: (count) => `${count} 則待確認`,
  },
  connection: {
    connecting: "連線中…",
    live: "已連線",
    away: "連線中斷，正在重試…",
  },
  news: {
    learned: (fact) => `學到：${fact}`,
    pending: (fact) => `待確認：${fact}`,
    problem: "背景工作出了錯。",
  },
  theme: { label: "配色", system: "跟隨系統", light: "淺色", dark: "深色" },
  language: { label: "語言" },
  login: {
    title: "這份記憶上了鎖",
    explanation:
      "別人也連得到它，所以需要權杖才能開啟。請用別人給你的權杖。伺服器的管理者可以在資料夾裡的 http-token 檔案找到權杖，或用一次性連結開啟這個頁面。",
    token: "權杖",
    open: "開啟",
    refused: "這個權杖不對。請重新複製完整的權杖，前後不要有空白。",
  },
  errors: {
    unreachable: "伺服器沒有回應。請稍後再試；如果還是不行，伺服器需要重新啟動。",
    unknown: "出了錯，請再試一次。",
    codes: PROBLEMS,
    isServersLanguage: false,
    crashTitle: "這個畫面出了點問題",
    crashText: "你的記憶都還在：它們存在檔案裡，這裡只是把它們顯示出來。請重新載入頁面。",
    reload: "重新載入",
    missingTitle: "無法載入這個畫面",
    missingText: "伺服器恢復回應後，畫面會自動開啟。",
    missingUnsaved: "必須重新載入頁面才能開啟。請先儲存或送出你寫的內容，否則會遺失。",
  },
  hits: {
    sources: { memory: "記憶", older: "較舊的記憶", daily: "每日筆記", conversations: "對話" },
    foreign: "不是你說的",
    notShown: "在另一個版本裡",
    replaced: (since, content) => `到 ${since} 為止；現在是：${content}`,
    byWords: "字詞",
    byMeaning: "語意",
    score: (score) => `相關度 ${score}`,
    both: (score, words, meaning) => `相關度 ${score}：字詞 ${words}，語意 ${meaning}`,
    byWordsAlone: (score) => `相關度 ${score}，僅依字詞`,
    byMeaningAlone: (score) => `相關度 ${score}，僅依語意`,
  },
  chat,
  memory,
  models,
  schedules,
  settings,
  status,
};
